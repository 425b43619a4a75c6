#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "client/cli/commands/commands.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/unit_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

// What a server keeps in its home, and its end.
namespace cellblock::cli {
namespace {

struct HomeRequest {
  std::string server;
  bool clears = false;  ///< else it is only looked at
};

// The launcher gives a walk 60 seconds.
constexpr std::chrono::seconds longest_walk{70};

client::Result<std::string> ask_about_home(const Context& context, const HomeRequest& request) {
  Json params{{"server", request.server}};
  if (request.clears) params["clear"] = true;
  auto connection = CELLBLOCK_TRY(open(context));
  return connection.request(control_method::home, dumped(params),
                            {.timeout = longest_walk, .stop = {}});
}

std::string amount_of(const Json& answer) {
  const auto files = number_of(answer, "files");
  return fmt::format("{} file{}, {}", files, files == 1 ? "" : "s",
                     size_text(static_cast<std::uint64_t>(number_of(answer, "bytes"))));
}

Exit code_of(const Json& answer) {
  const std::string done = text_of(answer, "answer");
  if (done == "done" || done == "none") return Exit::ok;
  if (done == "in_use") return Exit::busy;
  return done == "not_permitted" ? Exit::refused : Exit::error;
}

Exit say(const Context& context, const HomeRequest& request, const Json& answer) {
  const std::string whose = context.whose.empty() ? "" : " for " + safe_line(context.whose);
  const std::string home = fmt::format("home of {}{}: ", safe_line(request.server), whose);
  const std::string done = text_of(answer, "answer");
  const std::string reason = text_of(answer, "reason");
  const std::string amount = amount_of(answer) + (request.clears ? " removed" : "");
  if (done == "done") {
    fmt::print("{}{}\n", home, amount);
  } else if (done == "none") {
    fmt::print("{}nothing is kept: {}\n", home, reason);
  } else {
    const bool has_begun = number_of(answer, "files") > 0;
    fmt::print(stderr, "cellblock: {}{}{}\n", home, has_begun ? amount + "; " : "", reason);
  }
  return code_of(answer);
}

Exit run_home(const Context& context, const HomeRequest& request) {
  const auto result = ask_about_home(context, request);
  if (!result) return explain(context, result.error());
  const auto answer = Json::parse(*result, nullptr, false);
  if (!answer.is_object()) {
    return explain(context, {.code = client::ErrorCode::protocol,
                             .text = "the daemon's answer cannot be read"});
  }
  if (context.output == Output::human) return say(context, request, answer);
  const Exit printed = print_json(*result);
  return printed == Exit::ok ? code_of(answer) : printed;
}

Exit run_home_show(const Context& context, const Words& words) {
  return run_home(context, {.server = words.text(server_name)});
}

Exit run_home_clear(const Context& context, const Words& words) {
  return run_home(context, {.server = words.text(server_name), .clears = true});
}

Command home_show_command() {
  return {.name = "show",
          .what = "how many files there are, and how large they are",
          .example = "cellblock home show git",
          .required = {&server_name},
          .options = {&for_user},
          .run = run_home_show};
}

Command home_clear_command() {
  return {.name = "clear",
          .what = "remove all of them; not while a cell of that server and user is there",
          .example = "cellblock home clear git",
          .required = {&server_name},
          .options = {&for_user},
          .run = run_home_clear};
}

}  // namespace

Command home_command() {
  return {.name = "home",
          .group = Group::change,
          .what = "what a server keeps between its cells",
          .note =
              "A server with home = \"persistent\" keeps /home/mcp for each user, and later cells "
              "read\nwhat earlier ones have written there.\n",
          .example = "cellblock home show git\n  cellblock stop git && cellblock home clear git",
          .below = {home_show_command(), home_clear_command()}};
}

}  // namespace cellblock::cli
