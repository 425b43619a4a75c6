#include "agent.h"

#include <algorithm>
#include <iostream>
#include <utility>

namespace agent_host {

namespace client = cellblock::client;

std::string plain(std::string_view text) {
  std::string shown(text);
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

Agent::Agent(client::Client client, ScriptedModel model, std::chrono::milliseconds timeout)
    : client_(std::move(client)), model_(std::move(model)), timeout_(timeout) {}

std::expected<std::string, std::string> Agent::run() {
  const auto listed = client_.list_tools();
  if (!listed) return std::unexpected(listed.error().text);
  std::vector<std::string> names{KeptResults::tool};
  for (const auto& tool : *listed) names.push_back(tool.name);
  if (auto seen = model_.look_at(names); !seen) return std::unexpected(seen.error());

  std::vector<Outcome> outcomes;
  for (unsigned i = 0; i < most_turns; ++i) {
    const auto turn = model_.next(outcomes);
    if (!turn) return std::unexpected(turn.error());
    if (turn->calls.empty()) return turn->says;
    if (!turn->says.empty()) std::cout << "model: " << plain(turn->says) << '\n';
    outcomes.clear();
    for (const auto& call : turn->calls) outcomes.push_back(carry_out(call));
  }
  return std::unexpected("the model does not come to an end");
}

Outcome Agent::carry_out(const ToolCall& call) {
  std::cout << "call:  " << plain(call.tool) << ' ' << plain(call.arguments) << '\n';
  if (call.tool == KeptResults::tool) return kept_.read(call.arguments);
  const client::CallOptions options{.timeout = timeout_,
                                    .at_most = timeout_ * 10,  // while there is progress
                                    .on_progress = [](const client::Progress& progress) {
                                      std::cout << "       at " << progress.progress << ' '
                                                << plain(progress.message) << '\n';
                                    }};
  const auto result = client_.call_tool(call.tool, call.arguments, options);
  if (!result) return told(result.error());
  auto small = client::bounded(*result, kept_.bounds());
  if (!small) return told(small.error());
  kept_.keep(std::move(small->withheld));
  std::cout << "       about " << small->tokens << " tokens"
            << (small->is_bounded ? ", and more to read on\n" : "\n");
  return {.text = std::move(small->text), .is_error = small->is_error};
}

// In words by which a model can help itself.
Outcome Agent::told(const client::Error& error) {
  std::cout << "       " << client::name_of(error.code) << ": " << plain(error.text) << '\n';
  if (error.code != client::ErrorCode::disconnected) {
    const auto advice = error.advice.empty() ? "" : "\n" + error.advice;
    return {.text = error.text + advice, .is_error = true};
  }
  const auto again = client_.reconnect();
  std::string text = "The connection was lost. The call may have been carried out or not.";
  if (!again) text += " It could not be made again: " + again.error().text;
  return {.text = std::move(text), .is_error = true};
}

}  // namespace agent_host
