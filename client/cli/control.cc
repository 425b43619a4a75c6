#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "client/cli/commands.h"
#include "client/cli/json_text.h"
#include "client/cli/terminal_text.h"
#include "client/cli/time_text.h"
#include "policy/control_methods.h"

// What one server wrote and was refused, and the end of its cells.
namespace cellblock::cli {
namespace {

client::Result<std::string> ask(const Context& context, std::string_view method,
                                const Json& params) {
  return ask_daemon(context, method, params.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void print_error_line(const Json& line) {
  fmt::print("{}  cell {}  {}\n", moment_text(number_of(line, "at_ms")), text_of(line, "cell"),
             text_of(line, "text"));
}

void print_denial(const Json& denial) {
  const auto count = number_of(denial, "count");
  fmt::print("{}  cell {}  {}{}\n    {}\n", moment_text(number_of(denial, "at_ms")),
             text_of(denial, "cell"), text_of(denial, "what"),
             count > 1 ? fmt::format(" ({} times)", count) : "", text_of(denial, "reason"));
  const auto allow = text_of(denial, "allow");
  if (!allow.empty()) fmt::print("    to allow it: {}\n", allow);
}

Exit print_logs(const std::string& result, const char* name, void (*print)(const Json&)) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object() || !json.contains(name) || !json[name].is_array()) {
    fmt::print(stderr, "cellblock: the daemon's answer cannot be read\n");
    return Exit::error;
  }
  for (const auto& line : json[name]) {
    if (line.is_object()) print(line);
  }
  return Exit::ok;
}

Exit stop_with(const Context& context, std::string_view method, const std::string& server,
               const char* done) {
  const auto result = ask(context, method, Json{{"server", server}});
  if (!result) return explain(context, result.error());
  if (context.output == Output::json) return print_json(*result);
  const auto json = Json::parse(*result, nullptr, false);
  const bool counted = json.is_object() && json.contains("stopped");
  fmt::print("{}: {} of {} cells {}\n", safe_line(server),
             counted && json["stopped"].is_number_integer() ? json["stopped"].get<int>() : 0,
             context.whose.empty() ? "your" : safe_line(context.whose) + "'s", done);
  return Exit::ok;
}

// On stderr: stdout has what is recorded, and that is nothing.
void say_what_is_not_seen() {
  fmt::print(stderr,
             "Nothing refused is recorded. Files that its cells may not open and ports that no "
             "egress rule\nnames are refused by the kernel (Landlock) without a record: read "
             "\"Whose files are these?\" in\ndocs/configuration.md.\n");
}

bool is_empty_list(const std::string& result, const char* name) {
  const auto json = Json::parse(result, nullptr, false);
  return json.is_object() && json.contains(name) && json[name].is_array() && json[name].empty();
}

}  // namespace

Exit run_logs(const Context& context, const std::string& server, unsigned lines, LogKind kind) {
  Json params{{"server", server}, {"lines", lines}};
  if (kind == LogKind::denied) params["denied"] = true;
  const auto logs = ask(context, control_method::logs, params);
  if (!logs) return explain(context, logs.error());
  if (context.output == Output::json) return print_json(*logs);
  if (kind == LogKind::errors) return print_logs(*logs, "lines", print_error_line);
  if (is_empty_list(*logs, "denied")) say_what_is_not_seen();
  return print_logs(*logs, "denied", print_denial);
}

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
