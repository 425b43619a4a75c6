#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "client/cli/commands/commands.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/mcp/control_methods.h"

// The end of a server's cells.
namespace cellblock::cli {
namespace {

client::Result<std::string> ask_about_cells(const Context& context, std::string_view method,
                                            const Json& params) {
  return ask_daemon(context, method, params.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Exit stop_with(const Context& context, std::string_view method, const std::string& server,
               const char* done) {
  const auto result = ask_about_cells(context, method, Json{{"server", server}});
  if (!result) return explain(context, result.error());
  if (context.output == Output::json) return print_json(*result);
  const auto json = Json::parse(*result, nullptr, false);
  const bool counted = json.is_object() && json.contains("stopped");
  fmt::print("{}: {} of {} cells {}\n", safe_line(server),
             counted && json["stopped"].is_number_integer() ? json["stopped"].get<int>() : 0,
             context.whose.empty() ? "your" : safe_line(context.whose) + "'s", done);
  return Exit::ok;
}

}  // namespace

Exit run_stop(const Context& context, const std::string& server) {
  return stop_with(context, control_method::stop, server, "are being stopped");
}

Exit run_restart(const Context& context, const std::string& server) {
  return stop_with(context, control_method::restart, server,
                   "are being stopped; the next request starts a fresh one");
}

Exit run_version(const Context& context) {
  if (context.output == Output::json) {
    return print_json(Json{{"version", CELLBLOCK_VERSION}}.dump());
  }
  fmt::print("cellblock {}\n", CELLBLOCK_VERSION);
  return Exit::ok;
}

}  // namespace cellblock::cli
