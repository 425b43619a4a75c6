#include "scripted_model.h"

#include <algorithm>
#include <fstream>

namespace agent_host {
namespace {

using nlohmann::json;

std::unexpected<std::string> fail(std::string why) { return std::unexpected(std::move(why)); }

json member(const json& object, const char* name) {
  return object.is_object() ? object.value(name, json()) : json();
}

std::string text_member(const json& object, const char* name) {
  const auto value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

}  // namespace

std::expected<ScriptedModel, std::string> ScriptedModel::load(const std::string& path) {
  std::ifstream file(path);
  auto script = json::parse(file, nullptr, false);
  if (!member(script, "turns").is_array()) return fail(path + ": no script");
  return ScriptedModel(std::move(script));
}

std::expected<void, std::string> ScriptedModel::look_at(
    const std::vector<std::string>& tools) const {
  for (const auto& needed : member(script_, "needs")) {
    const auto is_it = [&](const std::string& tool) { return needed == tool; };
    if (std::ranges::none_of(tools, is_it)) return fail("no tool " + needed.dump());
  }
  return {};
}

std::expected<Turn, std::string> ScriptedModel::next(const std::vector<Outcome>& outcomes) {
  if (auto checked = check(outcomes); !checked) return fail(checked.error());
  const auto& turns = script_["turns"];
  if (turn_ >= turns.size()) return fail("the script has no further turn");
  const auto& turn = turns[turn_++];
  Turn made{.says = text_member(turn, "says"), .calls = {}};
  for (const auto& call : member(turn, "calls")) {
    const auto arguments = member(call, "arguments");
    made.calls.push_back({.tool = text_member(call, "tool"),
                          .arguments = arguments.is_object() ? arguments.dump() : "{}"});
  }
  return made;
}

std::expected<void, std::string> ScriptedModel::check(const std::vector<Outcome>& outcomes) const {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto& call = script_["turns"][turn_ - 1]["calls"][i];
    const auto expected = member(call, "expect");
    const auto& [text, is_error] = outcomes[i];
    if (!text.contains(text_member(expected, "contains")) ||
        is_error != (member(expected, "error") == true)) {
      return fail(text_member(call, "tool") + " was not expected to say: " + text.substr(0, 500));
    }
  }
  return {};
}

}  // namespace agent_host
