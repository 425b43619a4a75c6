#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/status_text.h"
#include "client/cli/terminal_text.h"
#include "policy/result.h"

// The commands that ask the daemon itself.
namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

client::Result<std::string> ask(const Context& context, const char* method, const Json& params) {
  auto connection = CELLBLOCK_TRY(open(context));
  const auto text = params.dump(-1, ' ', false, Json::error_handler_t::replace);
  return connection.request(method, text, {.timeout = std::chrono::seconds(10), .stop = {}});
}

std::string moment(std::int64_t at_ms) {
  const std::time_t seconds = at_ms / 1000;
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return "?";
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

Exit print_logs(const std::string& result) {
  const auto json = Json::parse(result, nullptr, false);
  if (!json.is_object() || !json.contains("lines") || !json["lines"].is_array()) {
    fmt::print(stderr, "cellblock: the daemon's answer cannot be read\n");
    return Exit::error;
  }
  for (const auto& line : json["lines"]) {
    if (!line.is_object()) continue;
    const auto at = line.find("at_ms");
    const auto cell = line.value("cell", Json("?"));
    const auto text = line.value("text", Json(""));
    fmt::print("{}  cell {}  {}\n",
               moment(at != line.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0),
               safe_line(cell.is_string() ? cell.get<std::string>() : cell.dump()),
               safe_line(text.is_string() ? text.get<std::string>() : text.dump()));
  }
  return Exit::ok;
}

Exit stop_with(const Context& context, const char* method, const std::string& server,
               const char* done) {
  const auto result = ask(context, method, Json{{"server", server}});
  if (!result) return explain(context, result.error());
  if (context.output == Output::json) return print_json(*result);
  const auto json = Json::parse(*result, nullptr, false);
  const bool counted = json.is_object() && json.contains("stopped");
  fmt::print("{}: {} of your cells {}\n", safe_line(server),
             counted && json["stopped"].is_number_integer() ? json["stopped"].get<int>() : 0, done);
  return Exit::ok;
}

}  // namespace

Exit run_status(const Context& context, const std::string& server) {
  auto status = ask(context, "cellblock/status", Json::object());
  if (!status) return explain(context, status.error());
  if (!server.empty()) *status = only_server(*status, server);
  if (status->empty()) {
    return explain(context, {.code = client::ErrorCode::refused,
                             .text = fmt::format("there is no server \"{}\" for you", server)});
  }
  if (context.output == Output::json) return print_json(*status);
  fmt::print("{}", status_text(*status, Style::for_stdout()));
  return Exit::ok;
}

Exit run_logs(const Context& context, const std::string& server, unsigned lines) {
  const auto logs = ask(context, "cellblock/logs", Json{{"server", server}, {"lines", lines}});
  if (!logs) return explain(context, logs.error());
  return context.output == Output::json ? print_json(*logs) : print_logs(*logs);
}

Exit run_stop(const Context& context, const std::string& server) {
  return stop_with(context, "cellblock/stop", server, "are being stopped");
}

Exit run_restart(const Context& context, const std::string& server) {
  return stop_with(context, "cellblock/restart", server,
                   "are being stopped; the next attach starts a fresh one");
}

Exit run_version(const Context& context) {
  if (context.output == Output::json) {
    return print_json(Json{{"version", CELLBLOCK_VERSION}}.dump());
  }
  fmt::print("cellblock {}\n", CELLBLOCK_VERSION);
  return Exit::ok;
}

}  // namespace cellblock::cli
