#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "client/cli/commands/commands.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/control_methods.h"

// The end of a server's cells.
namespace cellblock::cli {
namespace {

Exit stop_with(const Context& context, std::string_view method, const std::string& server,
               const char* done) {
  const auto result = ask_daemon(context, method, dumped(Json{{"server", server}}));
  if (!result) return explain(context, result.error());
  if (context.output == Output::json) return print_json(*result);
  const auto json = Json::parse(*result, nullptr, false);
  const bool counted = json.is_object() && json.contains("stopped");
  fmt::print("{}: {} of {} cells {}\n", safe_line(server),
             counted && json["stopped"].is_number_integer() ? json["stopped"].get<int>() : 0,
             context.whose.empty() ? "your" : safe_line(context.whose) + "'s", done);
  return Exit::ok;
}

Exit run_stop(const Context& context, const Words& words) {
  return stop_with(context, control_method::stop, words.text(server_name), "are being stopped");
}

Exit run_restart(const Context& context, const Words& words) {
  return stop_with(context, control_method::restart, words.text(server_name),
                   "are being stopped; the next request starts a fresh one");
}

Exit run_version(const Context& context, const Words& /*words*/) {
  if (context.output == Output::json) {
    return print_json(Json{{"version", CELLBLOCK_VERSION}}.dump());
  }
  fmt::print("cellblock {}\n", CELLBLOCK_VERSION);
  return Exit::ok;
}

}  // namespace

Command stop_command() {
  return {.name = "stop",
          .group = Group::change,
          .what = "stop your cells of a server",
          .example = "cellblock stop files",
          .required = {&server_name},
          .options = {&for_user},
          .run = run_stop};
}

Command restart_command() {
  return {.name = "restart",
          .group = Group::change,
          .what = "stop them; forget the last failure and what was known of its lists",
          .example = "cellblock restart files",
          .required = {&server_name},
          .options = {&for_user},
          .run = run_restart};
}

Command version_command() {
  return {.name = "version",
          .group = Group::set_up,
          .what = "print the version",
          .newer = "--version",
          .example = "cellblock version --json",
          .run = run_version};
}

}  // namespace cellblock::cli
