#include "client/cli/status/failure_since.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "client/cli/status/status_text.h"
#include "policy/failures/end_verdict.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

using PlainJson = nlohmann::json;

PlainJson last_end_of(const std::string& status, const std::string& server) {
  const auto json = PlainJson::parse(only_server(status, server), nullptr, false);
  const PlainJson::json_pointer place("/servers/0/last_end");
  return json.is_object() && json.contains(place) ? json[place] : PlainJson();
}

bool is_draining(const std::string& status, const std::string& server) {
  const auto json = PlainJson::parse(only_server(status, server), nullptr, false);
  const PlainJson::json_pointer place("/servers/0/cells");
  if (!json.is_object() || !json.contains(place)) return false;
  return std::ranges::any_of(json[place], [](const PlainJson& cell) {
    return cell.is_object() && cell.value("state", PlainJson()) == PlainJson("draining");
  });
}

// A session that was stopped closes before its cell has ended: asked again while one is ending.
PlainJson end_of_session(const Context& context, const std::string& server, EndedBy by) {
  const int attempts = by == EndedBy::daemon ? 50 : 1;
  auto connection = open(context);
  for (int i = 0; connection && i < attempts; ++i) {
    const auto status = connection->request(control_method::status, "{}",
                                            {.timeout = std::chrono::seconds(2), .stop = {}});
    if (!status) break;
    if (by == EndedBy::host || !is_draining(*status, server)) return last_end_of(*status, server);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return {};
}

// Sessions outlive their cells: how one ended long before is no cause of theirs.
constexpr std::chrono::seconds just_now{10};

}  // namespace

std::optional<client::Error> failure_since(const Context& context, const std::string& server,
                                           std::chrono::system_clock::time_point began,
                                           EndedBy by) {
  const auto since = std::max(began, std::chrono::system_clock::now() - just_now);
  PlainJson end = end_of_session(context, server, by);
  if (!end.is_object() || !end.value("at_ms", PlainJson()).is_number_integer()) return std::nullopt;
  const std::chrono::milliseconds at(end["at_ms"].get<std::int64_t>());
  if (at < std::chrono::floor<std::chrono::milliseconds>(since.time_since_epoch())) return {};
  const auto verdict = end.value("verdict", PlainJson(""));
  const auto cause = end.value("cause", PlainJson(""));
  if (!cause.is_string() || !verdict.is_string()) return std::nullopt;
  const bool was_stopped = verdict == name_of(Verdict::stopped);
  if (is_on_purpose(verdict.get<std::string>()) && !was_stopped) return std::nullopt;
  if (was_stopped && by == EndedBy::host) return std::nullopt;
  if (was_stopped) {
    return client::Error{.code = client::ErrorCode::server_failed,
                         .text = "the session was stopped"};
  }
  end["server"] = server;
  return client::Error{.code = client::ErrorCode::server_failed,
                       .text = cause.get<std::string>(),
                       .data = end.dump(-1, ' ', false, PlainJson::error_handler_t::replace),
                       .failure = "server_failed"};
}

}  // namespace cellblock::cli
