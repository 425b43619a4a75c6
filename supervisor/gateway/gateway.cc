#include "supervisor/gateway/gateway.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "policy/permission.h"
#include "supervisor/gateway/wall_clock.h"

namespace cellblock::gateway {

namespace {

constexpr std::size_t stdio_pipes = 3;

// For the launcher to bury what was killed. The supervisor waits by the same rule and a second
// longer, so that whoever is late is named here.
constexpr Milliseconds burial{1'000};
constexpr Milliseconds longest_shut_down{29'000};

Milliseconds shut_down_patience(const Config& config) {
  Milliseconds slowest{0};
  for (const Server& server : config.servers) {
    slowest = std::max(slowest, server.timeouts.end_of_input + server.timeouts.terminate);
  }
  return std::min(slowest + burial, longest_shut_down);
}

void fill_from_kernel(std::span<std::byte> bytes) {
  // Up to 256 bytes are never cut short once the kernel's pool is ready; without randomness there
  // is no safe way to go on.
  while (!bytes.empty()) {
    const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0 && errno != EINTR) std::abort();
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

Peer peer_of(const wire::SessionGrant& grant) {
  return {.session = grant.connection,
          .uid = grant.uid,
          .gid = grant.gid,
          .pid = grant.pid,
          .groups = {grant.groups.begin(), grant.groups.begin() + grant.group_count}};
}

}  // namespace

Gateway::Gateway(EventLoop& loop, Config config, GatewayChannels channels)
    : loop_(loop),
      config_(std::move(config)),
      history_(config_.servers.size()),
      ids_(fill_from_kernel),
      supervisor_(loop, std::move(channels.supervisor),
                  {.session = [this](const wire::SessionGrant& grant,
                                     Fd connection) { open_session(grant, std::move(connection)); },
                   .audit_channel = [this](Fd audit) { audit_.replace(std::move(audit)); },
                   .closed = [this] { shut_down(); },
                   .broken = [this](std::string_view why) { give_up_on("the supervisor", why); }}),
      launcher_(loop, std::move(channels.launcher),
                {.event = [this](const wire::CellEvent& event,
                                 std::vector<Fd> pipes) { cell_event(event, std::move(pipes)); },
                 .broken = [this](std::string_view why) { give_up_on("the launcher", why); }}),
      audit_(loop, std::move(channels.audit)),
      patience_(loop, [this] { give_up("cells that do not end"); }) {}

void Gateway::give_up(std::string_view why) {
  if (std::exchange(ending_, true)) return;
  if (!why.empty()) spdlog::info("gateway ends: {}", why);
  audit_.flush();
  loop_.stop();
}

void Gateway::give_up_on(std::string_view whom, std::string_view why) {
  give_up(fmt::format("{} {}", whom, why));
}

void Gateway::shut_down() {
  if (std::exchange(shutting_down_, true)) return;
  for (const auto& [connection, session] : sessions_) {
    session->stop(Session::StopReason::shutting_down);
  }
  patience_.set(shut_down_patience(config_));
  if (sessions_.empty()) give_up("");
}

// --- sessions ------------------------------------------------------------------------------------

void Gateway::open_session(const wire::SessionGrant& grant, Fd connection) {
  // This process holds one user's secrets and cells. Another user's connection here is a mistake
  // that nobody may survive.
  if (uid_.value_or(grant.uid) != grant.uid) return give_up("a session of another user");
  uid_ = grant.uid;
  if (sessions_.contains(grant.connection)) return give_up("a connection that is open already");
  GatewayServices& services = *this;
  auto session = std::make_unique<SessionRunner>(services, peer_of(grant), std::move(connection));
  SessionRunner& opened = *session;
  sessions_.emplace(grant.connection, std::move(session));
  if (shutting_down_) opened.stop(Session::StopReason::shutting_down);
}

void Gateway::host_closed(SessionRunner& session) {
  supervisor_.session_closed(static_cast<std::uint32_t>(session.session().peer().session));
}

void Gateway::finished(SessionRunner& session) {
  loop_.defer([this, connection = static_cast<std::uint32_t>(session.session().peer().session)] {
    sessions_.erase(connection);
    if (shutting_down_ && sessions_.empty()) give_up("");
  });
}

// --- cells ---------------------------------------------------------------------------------------

void Gateway::start_cell(SessionRunner& session, CellWanted wanted) {
  const std::uint32_t request = next_request_++;
  asked_[request] = &session;
  launcher_.start_cell(request, wanted.server, wanted.program, std::move(wanted.workspace));
}

void Gateway::cell_event(const wire::CellEvent& event, std::vector<Fd> pipes) {
  switch (event.kind) {
    case wire::CellEventKind::started:
    case wire::CellEventKind::refused:
      return cell_answered(event, std::move(pipes));
    case wire::CellEventKind::running:
    case wire::CellEventKind::ended:
      return cell_news(event);
    case wire::CellEventKind::denied:
      return;
  }
  give_up("an unknown event from the launcher");
}

void Gateway::cell_answered(const wire::CellEvent& event, std::vector<Fd> pipes) {
  const auto asked = asked_.find(event.request);
  if (asked == asked_.end()) return give_up("an answer from the launcher that nobody asked for");
  SessionRunner& session = *asked->second;
  asked_.erase(asked);
  if (event.kind == wire::CellEventKind::refused) return session.cell_refused(event);
  cells_[event.cell] = &session;
  if (pipes.size() > stdio_pipes) {
    egress_[event.cell] = std::move(pipes.back());
    pipes.pop_back();
  }
  session.cell_started(event.cell, std::move(pipes));
}

void Gateway::cell_news(const wire::CellEvent& event) {
  const auto cell = cells_.find(event.cell);
  if (cell == cells_.end()) return give_up("news from the launcher about an unknown cell");
  SessionRunner& session = *cell->second;
  if (event.kind == wire::CellEventKind::running) return session.cell_running();
  cells_.erase(cell);
  egress_.erase(event.cell);
  session.cell_ended(event.facts);
}

void Gateway::remember_end(std::uint32_t server, const Failure& failure) {
  history_[server].last_end = LastEnd{failure, unix_milliseconds()};
}

// --- requests about all cells --------------------------------------------------------------------

std::string Gateway::answer_control(const ControlRequest& request, const Peer& peer) {
  if (request.method == ControlMethod::status) return status(peer);
  const auto server = std::ranges::lower_bound(config_.servers, request.server, {}, &Server::name);
  const auto index = static_cast<std::uint32_t>(server - config_.servers.begin());
  if (request.method == ControlMethod::logs) {
    return logs_json(history_[index].errors.last(request.lines));
  }
  if (request.method == ControlMethod::restart) history_[index].last_end.reset();
  return stopped_json(stop_cells(index));
}

std::vector<SessionRunner*> Gateway::sessions_of(std::uint32_t server) const {
  std::vector<SessionRunner*> found;
  for (const auto& [connection, runner] : sessions_) {
    const Session& session = runner->session();
    if (session.server() == &config_.servers[server]) found.push_back(runner.get());
  }
  return found;
}

std::size_t Gateway::stop_cells(std::uint32_t server) {
  std::size_t cells = 0;
  for (const SessionRunner* runner : sessions_of(server)) {
    const Session& session = runner->session();
    if (session.cell_state() == CellState::stopped || session.cell_state() == CellState::ended) {
      continue;
    }
    ++cells;
    // Later in this turn, so that a session which stops its own cell gets its answer first.
    loop_.defer([this, connection = static_cast<std::uint32_t>(session.peer().session)] {
      const auto found = sessions_.find(connection);
      if (found != sessions_.end()) found->second->stop(Session::StopReason::stopped);
    });
  }
  return cells;
}

std::string Gateway::status(const Peer& peer) const {
  std::vector<ServerRow> rows;
  const Identified who{peer.uid, peer.gid, peer.groups};
  for (std::uint32_t i = 0; i < config_.servers.size(); ++i) {
    if (!may_use_server(config_.servers[i].allow, who).allowed) continue;
    ServerRow row{.server = &config_.servers[i], .cells = {}, .last_end = nullptr};
    for (const SessionRunner* runner : sessions_of(i)) {
      if (!runner->session().is_over() && runner->session().cell() != 0) {
        row.cells.push_back(runner->row(loop_.now()));
      }
    }
    if (history_[i].last_end) row.last_end = &*history_[i].last_end;
    rows.push_back(std::move(row));
  }
  return status_json(config_, rows);
}

}  // namespace cellblock::gateway
