#include "client/cli/status/machine_status.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "client/cli/terminal/json_text.h"
#include "policy/failures/end_verdict.h"

namespace cellblock::cli {
namespace {

// The state that an administrator has to look at first wins; then the one that serves.
int weight_of(const std::string& state) {
  constexpr std::array order{"stopped", "disabled",    "surveying",   "draining",
                             "spare",   "starting",    "handshaking", "ready",
                             "failed",  "quarantined", "broken"};
  const auto* const place = std::ranges::find(order, state);
  return place == order.end() ? 0 : static_cast<int>(place - order.begin());
}

void take_state(const Json& of_user, Json& server) {
  auto state = raw_text(of_user, "state");
  if (weight_of(state) > weight_of(raw_text(server, "state"))) server["state"] = std::move(state);
  if (of_user.contains("broken") && !server.contains("broken"))
    server["broken"] = of_user["broken"];
}

void take_last_end(const Json& of_user, const std::string& user, Json& server) {
  Json end = object_of(of_user, "last_end");
  if (end.empty() || is_on_purpose(raw_text(end, "verdict"))) return;
  if (number_of(end, "at_ms") < number_of(object_of(server, "last_end"), "at_ms")) return;
  end["user"] = user;
  server["last_end"] = std::move(end);
}

void take_failed_survey(const Json& of_user, Json& server) {
  auto failed = raw_text(object_of(of_user, "catalogue"), "failed");
  if (!failed.empty()) server["catalogue"] = {{"failed", std::move(failed)}};
}

// A sum that no gateway's number can carry out of its range.
std::int64_t sum_of(std::int64_t before, std::int64_t more) {
  constexpr std::int64_t most = 1'000'000'000'000'000;
  return std::clamp<std::int64_t>(before, 0, most) + std::clamp<std::int64_t>(more, 0, most);
}

void take_user(const Json& of_user, const std::string& user, Json& server) {
  const auto cells = objects_of(of_user, "cells");
  if (!cells.empty()) server["users"] = number_of(server, "users") + 1;
  for (const Json& cell : cells) server["cells"].push_back(cell);
  server["denied_total"] =
      sum_of(number_of(server, "denied_total"), number_of(of_user, "denied_total"));
  server["pins"]["withheld"] = sum_of(number_of(object_of(server, "pins"), "withheld"),
                                      number_of(object_of(of_user, "pins"), "withheld"));
  take_state(of_user, server);
  take_last_end(of_user, user, server);
  take_failed_survey(of_user, server);
}

// What a gateway says may be no JSON, and must not make the whole none.
Json parsed_user(const UserStatus& user) {
  auto status = Json::parse(user.status_json, nullptr, false);
  if (!status.is_object()) status = Json::object();
  return Json{{"uid", user.uid}, {"user", user.user}, {"status", std::move(status)}};
}

struct Told {
  std::string user;
  Json of_user;
};

/// By server, of each user in turn.
std::multimap<std::string, Told> told_by_users(const Json& users) {
  std::multimap<std::string, Told> told;
  for (const Json& user : users) {
    for (Json& of_user : objects_of(object_of(user, "status"), "servers")) {
      auto server = raw_text(of_user, "name");
      told.emplace(std::move(server), Told{raw_text(user, "user"), std::move(of_user)});
    }
  }
  return told;
}

}  // namespace

std::string machine_status(std::string_view installation_json,
                           const std::vector<UserStatus>& users) {
  Json machine = Json::parse(installation_json, nullptr, false);
  if (!machine.is_object()) return {};
  Json of_users = Json::array();
  for (const UserStatus& user : users) of_users.push_back(parsed_user(user));
  const auto told = told_by_users(of_users);
  Json servers = Json::array();
  for (Json& server : objects_of(machine, "servers")) {
    server["users"] = 0;
    server["cells"] = Json::array();
    const auto [first, last] = told.equal_range(raw_text(server, "name"));
    for (auto one = first; one != last; ++one)
      take_user(one->second.of_user, one->second.user, server);
    servers.push_back(std::move(server));
  }
  machine["servers"] = std::move(servers);
  machine["users"] = std::move(of_users);
  return dumped(machine);
}

}  // namespace cellblock::cli
