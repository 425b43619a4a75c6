#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/upstream/upstream.h"

/// Conversations of several sessions and cells that share one sealer, fed by hand.
namespace cellblock::gateway::testing {

using namespace std::chrono_literals;
using nlohmann::json;

class Recorder final : public UpstreamEffects {
 public:
  void to_host(Slices message) override { keep(message, host); }
  void to_cell(Slices message) override { keep(message, cell); }
  void record(const AuditNote& note) override { reasons.emplace_back(note.reason); }
  AuditState audit_state() const override { return AuditState::writable; }
  void when_recorded(WhenRecorded then) override { then(AuditState::writable, Time{}); }
  void wake_in(Milliseconds) override {}

  std::vector<json> host;
  std::vector<json> cell;
  std::vector<std::string> reasons;

 private:
  static void keep(Slices message, std::vector<json>& lines) {
    std::string text;
    for (const std::string_view slice : message) text += slice;
    lines.push_back(json::parse(text));
  }
};

inline Sealer::Fill counting() {
  return [next = 1U](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++ * 167U >> 3U);
  };
}

inline Server a_server() {
  Server server;
  server.name = "files";
  server.rules = {short_form({1000}, {}, {{"", true}})};
  return server;
}

class ValuesTest : public ::testing::Test {
 protected:
  explicit ValuesTest(Server server = a_server()) : server_(std::move(server)) {}

  struct Side {
    Side(const Server& server, UpstreamIds& ids, Sealer& sealer, SealBinding whose)
        : config{.servers = {server}},
          policy(config),
          rights(server.rules, subject_of({}, {1000, 1000, {}})),
          conversation({.server = server, .policy = policy}, rights, ids,
                       OpaqueTokens(sealer, whose), AuditArguments::digest, effects) {}
    Recorder effects;
    Config config;
    UserPolicy policy;
    Rights rights;
    Upstream conversation;
  };

  void host(Side& side, const json& message) {
    hand(message,
         [&](auto line, const auto& parsed) { side.conversation.from_host(line, parsed, now_); });
  }
  void server(Side& side, const json& message) {
    hand(message,
         [&](auto line, const auto& parsed) { side.conversation.from_cell(line, parsed, now_); });
  }

  /// A request of the host, and the server's answer to it; the answer as the host gets it.
  json ask(Side& side, json request, json result) {
    request["jsonrpc"] = "2.0";
    request["id"] = ++last_id_;
    host(side, request);
    server(side, {{"jsonrpc", "2.0"}, {"id", side.effects.cell.back()["id"]}, {"result", result}});
    return side.effects.host.back()["result"];
  }
  json list(Side& side, const json& cursor, const json& next) {
    return ask(side, {{"method", "resources/list"}, {"params", {{"cursor", cursor}}}},
               {{"resources", json::array()}, {"nextCursor", next}});
  }
  json start_task(Side& side, const std::string& id) {
    return ask(side,
               {{"method", "tools/call"}, {"params", {{"name", "t"}, {"task", json::object()}}}},
               {{"task", {{"taskId", id}, {"status", "working"}}}})["task"]["taskId"];
  }
  static json about(const json& task) {
    return {{"jsonrpc", "2.0"},
            {"method", "notifications/tasks/status"},
            {"params", {{"taskId", task}, {"status", "working"}}}};
  }

  Time now_{1h};
  const Server server_;
  UpstreamIds ids_{counting()};
  Sealer sealer_{counting()};
  Side mine_{server_, ids_, sealer_, {.server = 1, .session = 7, .cell = 3}};
  Side other_session_{server_, ids_, sealer_, {.server = 1, .session = 8, .cell = 3}};
  Side next_cell_{server_, ids_, sealer_, {.server = 1, .session = 7, .cell = 4}};

 private:
  template <class Take>
  void hand(const json& message, Take take) {
    const std::string line = message.dump();
    const std::string padded = line + std::string(MessageScanner::padding, '\0');
    const auto view = std::string_view(padded).substr(0, line.size());
    const auto parsed = scanner_.scan(view);
    ASSERT_TRUE(parsed) << line;
    take(view, *parsed);
  }

  MessageScanner scanner_;
  int last_id_ = 0;
};

}  // namespace cellblock::gateway::testing
