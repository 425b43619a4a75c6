#include "client/cli/failure_since.h"

#include <nlohmann/json.hpp>

#include "client/cli/status_text.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::json;

Json last_end_of(const std::string& status, const std::string& server) {
  const auto json = Json::parse(only_server(status, server), nullptr, false);
  const Json::json_pointer place("/servers/0/last_end");
  return json.is_object() && json.contains(place) ? json[place] : Json();
}

}  // namespace

std::optional<client::Error> failure_since(const Context& context, const std::string& server,
                                           std::chrono::system_clock::time_point began) {
  auto connection = open(context);
  if (!connection) return std::nullopt;
  const auto status = connection->request("cellblock/status", "{}",
                                          {.timeout = std::chrono::seconds(2), .stop = {}});
  if (!status) return std::nullopt;
  const Json end = last_end_of(*status, server);
  if (!end.is_object() || !end.value("at_ms", Json()).is_number_integer()) return std::nullopt;
  const std::chrono::milliseconds at(end["at_ms"].get<std::int64_t>());
  if (at < std::chrono::floor<std::chrono::milliseconds>(began.time_since_epoch())) return {};
  const auto verdict = end.value("verdict", Json(""));
  const auto cause = end.value("cause", Json(""));
  if (verdict == "stopped" || !cause.is_string()) return std::nullopt;
  return client::Error{.code = client::ErrorCode::server_failed,
                       .text = cause.get<std::string>(),
                       .data = end.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace cellblock::cli
