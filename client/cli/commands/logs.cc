#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "client/cli/commands/commands.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/log_text.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/terminal/unit_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

// What one server wrote, and was refused.
namespace cellblock::cli {
namespace {

constexpr Option log_lines{.name = "-n,--lines",
                           .what = "the last so many lines",
                           .placeholder = "UINT",
                           .standard = "100",
                           .range = {1, 200}};
constexpr Option log_denied =
    flag("--denied", "what its cells were refused instead, and what would allow it");

// Between two questions whether there is more. The gateway keeps 200 lines.
constexpr std::chrono::milliseconds poll_pause{250};
constexpr std::chrono::seconds logs_answer_time{10};
constexpr std::size_t most_lines = 200;

Exit unreadable() {
  fmt::print(stderr, "cellblock: the daemon's answer cannot be read\n");
  return Exit::error;
}

void print_denial(const Json& denial) {
  const auto count = number_of(denial, "count");
  fmt::print("{}  cell {}  {}{}\n    {}\n", moment_text(number_of(denial, "at_ms")),
             text_of(denial, "cell"), text_of(denial, "what"),
             count > 1 ? fmt::format(" ({} times)", count) : "", text_of(denial, "reason"));
  const auto allow = text_of(denial, "allow");
  if (!allow.empty()) fmt::print("    to allow it: {}\n", allow);
}

// On stderr: stdout has what is recorded, and that is nothing.
void say_what_is_not_seen() {
  fmt::print(stderr,
             "Nothing refused is recorded. Files that its cells may not open and ports that no "
             "egress rule\nnames are refused by the kernel (Landlock) without a record: read "
             "\"Whose files are these?\" in\ndocs/configuration.md.\n");
}

Exit print_denials(const std::string& result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object() || !json.contains("denied")) return unreadable();
  const auto denials = objects_of(json, "denied");
  if (denials.empty()) say_what_is_not_seen();
  for (const Json& denial : denials) print_denial(denial);
  return Exit::ok;
}

Exit print_errors(const std::string& server, const std::string& result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object() || !json.contains("lines")) return unreadable();
  for (const Json& line : objects_of(json, "lines")) {
    fmt::print("{}\n", log_line_text(server, line));
  }
  return Exit::ok;
}

// What was lost is told where it is missing.
void print_page(const Context& context, const std::string& server, const LogPage& page) {
  const bool as_json = context.output == Output::json;
  if (page.missed != 0 && as_json) print_json(dumped(Json{{"missed", page.missed}}));
  if (page.missed != 0 && !as_json) {
    fmt::print(stderr, "cellblock: {} lines are lost: more came at once than are kept\n",
               page.missed);
  }
  for (const Json& line : page.lines) {
    if (as_json) {
      print_json(dumped(line));
    } else {
      fmt::print("{}\n", log_line_text(server, line));
    }
  }
  static_cast<void>(std::fflush(stdout));
}

/// Until the connection ends, or the daemon refuses: why.
client::Error follow(const Context& context, const std::string& server, unsigned lines) {
  auto connection = open(context);
  if (!connection) return connection.error();
  Json params{{"server", server}, {"lines", lines}};
  while (true) {
    const auto answer = connection->request(control_method::logs, dumped(params),
                                            {.timeout = logs_answer_time, .stop = {}});
    if (!answer) return answer.error();
    const auto page = read_log_page(*answer);
    if (!page) {
      return {.code = client::ErrorCode::protocol,
              .text = "this daemon's answer cannot be read on from"};
    }
    print_page(context, server, *page);
    params = {{"server", server}, {"lines", most_lines}, {"after", page->next}};
    // A connection that has gone is told by the next request.
    if (page->lines.size() < most_lines) static_cast<void>(connection->serve_for(poll_pause));
  }
}

Exit run_logs(const Context& context, const Words& words) {
  const auto server = words.text(server_name);
  const unsigned lines = words.number(log_lines);
  if (words.has(follow_option)) return explain(context, follow(context, server, lines));
  Json params{{"server", server}, {"lines", lines}};
  const bool is_denied = words.has(log_denied);
  if (is_denied) params["denied"] = true;
  const auto logs = ask_daemon(context, control_method::logs, dumped(params));
  if (!logs) return explain(context, logs.error());
  if (context.output == Output::json) return print_json(*logs);
  return is_denied ? print_denials(*logs) : print_errors(server, *logs);
}

}  // namespace

Command logs_command() {
  return {.name = "logs",
          .group = Group::see,
          .what = "what a server wrote to stderr",
          .example = "cellblock logs files -n 20\n  cellblock logs files -f",
          .required = {&server_name},
          .options = {&for_user, &log_lines, &follow_option, &log_denied},
          .excludes = {{&log_denied, &follow_option}},
          .run = run_logs};
}

}  // namespace cellblock::cli
