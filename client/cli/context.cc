#include "client/cli/context.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "client/cli/terminal_text.h"
#include "policy/result.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string as_json(const client::Error& error, Exit exit) {
  Json object{{"code", client::name_of(error.code)},
              {"message", error.text},
              {"exit_code", static_cast<int>(exit)}};
  if (error.rpc_code != 0) object["rpc_code"] = error.rpc_code;
  if (auto data = Json::parse(error.data, nullptr, false); !data.is_discarded()) {
    object["data"] = std::move(data);
  }
  return Json{{"error", std::move(object)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The last lines that a failed server wrote to stderr.
void print_stderr_of(const client::Error& error) {
  const auto data = Json::parse(error.data, nullptr, false);
  if (!data.is_object() || !data.contains("stderr") || !data["stderr"].is_array()) return;
  for (const auto& line : data["stderr"]) {
    if (line.is_string()) fmt::print(stderr, "  | {}\n", safe_line(line.get<std::string>()));
  }
}

}  // namespace

client::Result<client::Client> open(const Context& context) {
  client::Options options;
  options.socket = context.socket;
  options.client_name = "cellblock";
  return client::Client::connect(std::move(options));
}

client::Result<client::Client> open_server(const Context& context, const std::string& server,
                                           const client::AttachOptions& with,
                                           std::chrono::milliseconds timeout) {
  const client::CallOptions bounded{.timeout = timeout, .stop = {}};
  auto connection = CELLBLOCK_TRY(open(context));
  CELLBLOCK_CHECK(connection.attach(server, with, bounded));
  CELLBLOCK_CHECK(connection.initialize(bounded));
  return connection;
}

Exit explain(const Context& context, const client::Error& error) {
  const auto exit = exit_for(error);
  fmt::print(stderr, "cellblock: {}\n", safe_text(error.text));
  print_stderr_of(error);
  const auto advice = advice_for(error.code, context.socket);
  if (!advice.empty()) fmt::print(stderr, "  {}\n", advice);
  if (context.output == Output::json) print_json(as_json(error, exit));
  return exit;
}

void say(const std::string& text) { fmt::print("{}\n", safe_text(text)); }

Exit print_json(const std::string& json) {
  fmt::print("{}\n", json);
  return Exit::ok;
}

}  // namespace cellblock::cli
