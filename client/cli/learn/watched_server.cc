#include "client/cli/learn/watched_server.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/log_text.h"
#include "policy/base/result.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

constexpr std::chrono::seconds answer_time{10};
constexpr std::size_t most_lines = 200;  ///< as many as the gateway keeps

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

client::Error unreadable() {
  return {.code = client::ErrorCode::protocol, .text = "the daemon's answer cannot be read"};
}

client::Result<LogPage> page_of(const std::string& answer) {
  auto page = read_log_page(answer);
  if (!page) return std::unexpected(unreadable());
  return std::move(*page);
}

DeclaredPath declared_path(const Json& json) {
  return {.path = text_of(json, "target"),
          .wish = text_of(json, "mode") == "rw" ? PathWish::write : PathWish::read,
          .holds_program = json.value("holds_program", Json()) == Json(true)};
}

WatchedServer::State state_of(const Json& server) {
  WatchedServer::State state;
  const auto cells = objects_of(server, "cells");
  state.cells = static_cast<std::size_t>(std::ranges::count_if(
      cells, [](const Json& cell) { return cell.value("spare", Json()) != Json(true); }));
  for (const Json& path : objects_of(object_of(server, "declared"), "paths")) {
    state.declared.push_back(declared_path(path));
  }
  state.network = text_of(server, "network");
  state.egress = texts_of(object_of(server, "egress"), "allow");
  return state;
}

}  // namespace

client::Result<WatchedServer> WatchedServer::open(const Context& context,
                                                  const std::string& server) {
  auto connection = CELLBLOCK_TRY(cli::open(context));
  WatchedServer watched(std::move(connection), server, unix_ms());
  const auto answer = CELLBLOCK_TRY(
      watched.ask(control_method::logs, dumped(Json{{"server", server}, {"lines", 1}})));
  const auto page = CELLBLOCK_TRY(page_of(answer));
  watched.next_line_ = page.next;
  return watched;
}

client::Result<std::string> WatchedServer::ask(std::string_view method, const std::string& params) {
  return connection_.request(method, params, {.timeout = answer_time, .stop = {}});
}

client::Result<void> WatchedServer::read_on(Observed& observed) {
  while (true) {
    const auto answer = CELLBLOCK_TRY(
        ask(control_method::logs,
            dumped(Json{{"server", server_}, {"lines", most_lines}, {"after", next_line_}})));
    const auto page = CELLBLOCK_TRY(page_of(answer));
    next_line_ = page.next;
    observed.lost(page.missed);
    for (const Json& line : page.lines) observed.said(Speaker::server, text_of(line, "text"));
    if (page.lines.size() < most_lines) return {};
  }
}

client::Result<void> WatchedServer::read_refusals(Observed& observed) {
  const auto answer = CELLBLOCK_TRY(
      ask(control_method::logs,
          dumped(Json{{"server", server_}, {"lines", most_lines}, {"denied", true}})));
  const auto json = Json::parse(answer, nullptr, false);
  if (!json.is_object() || !json.contains("denied")) return std::unexpected(unreadable());
  for (const Json& denied : objects_of(json, "denied")) {
    if (number_of(denied, "at_ms") < since_ms_) continue;
    observed.refused(text_of(denied, "what"), text_of(denied, "allow"),
                     static_cast<std::uint64_t>(number_of(denied, "count")));
  }
  return {};
}

client::Result<WatchedServer::State> WatchedServer::state() {
  const auto answer = CELLBLOCK_TRY(ask(control_method::status, "{}"));
  const auto json = Json::parse(answer, nullptr, false);
  for (const Json& server : objects_of(json, "servers")) {
    if (text_of(server, "name") == server_) return state_of(server);
  }
  return std::unexpected(unreadable());
}

}  // namespace cellblock::cli
