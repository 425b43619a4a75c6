#include "supervisor/gateway/gateway.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "policy/access/rights.h"
#include "policy/base/server_set.h"
#include "policy/config/server_list.h"
#include "policy/config/stop_time.h"
#include "policy/flows/rule_match.h"
#include "policy/reload/merge.h"
#include "supervisor/gateway/session/admission.h"
#include "supervisor/gateway/session/approval_report.h"
#include "supervisor/gateway/session/home_report.h"
#include "supervisor/gateway/session/pin_control.h"
#include "supervisor/gateway/session/status_report.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/os/clock.h"
#include "supervisor/os/peer_options.h"

namespace cellblock::gateway {

static_assert(max_log_lines == StderrRing::max_lines && max_log_lines == DeniedLog::max_recent);

namespace {

// For the launcher to reap what was killed. The supervisor waits by the same rule and a second
// longer, so that whoever is late is named here.
constexpr Milliseconds burial{1'000};
constexpr Milliseconds longest_shut_down{29'000};

void fill_from_kernel(std::span<std::byte> bytes) {
  // Up to 256 bytes are never cut short once the kernel's pool is ready; without randomness there
  // is no safe way to go on.
  while (!bytes.empty()) {
    const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0 && errno != EINTR) std::abort();
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// Whoever has looked at call 17 of a gateway that is gone does not name another one's by it. Short
// enough to be typed.
std::uint64_t random_approval() {
  std::array<std::byte, sizeof(std::uint32_t)> bytes{};
  fill_from_kernel(bytes);
  return 100'000 + std::bit_cast<std::uint32_t>(bytes) % 900'000;
}

// The name of a token is for the audit log and for status: nothing is decided by it.
Peer peer_of(const wire::SessionGrant& grant, const std::optional<HttpListen>& http) {
  const bool named =
      grant.via == wire::SessionVia::http_token && http && grant.token < http->tokens.size();
  return {.session = grant.connection,
          .uid = grant.uid,
          .gid = grant.gid,
          .pid = grant.pid,
          .groups = {grant.groups.begin(), grant.groups.begin() + grant.group_count},
          .via = grant.via,
          .token = named ? std::string_view(http->tokens[grant.token].name) : "",
          .token_index = grant.token,
          .is_admin = grant.via == wire::SessionVia::admin};
}

// Only a host of the socket attaches descriptors, and it may from here on (docs/protocol.md). Where
// that cannot be allowed its sendmsg goes on failing, which it reports.
void open_to_host(int connection, wire::SessionVia via) {
  read_urgent_bytes_in_line(connection);
  if (via == wire::SessionVia::socket) static_cast<void>(take_descriptors(connection));
}

// Beside calls, which have it of their places.
bool takes_of_share(const wire::AuditRecord& record) {
  if (record.kind == wire::AuditKind::cell_started) return true;
  return record.kind == wire::AuditKind::attach && record.outcome == wire::AuditOutcome::ok;
}

// Whoever refers to a server or a token goes on doing so when others are added.
Config with_room(Config config) {
  config.servers.reserve(max_servers);
  if (config.http) config.http->tokens.reserve(max_token_places);
  return config;
}

}  // namespace

Gateway::Gateway(EventLoop& loop, Config config, GatewayChannels channels)
    : loop_(loop),
      config_(with_room(std::move(config))),
      history_(max_servers),
      ids_(fill_from_kernel),
      sealer_(fill_from_kernel),
      kept_total_(config_.results, fill_from_kernel),
      policy_(config_, random_approval()),
      supervisor_(loop, std::move(channels.supervisor), supervisor_receiver()),
      launcher_(loop, std::move(channels.launcher), launcher_receiver()),
      usage_([this](std::uint64_t after) { launcher_.ask_usage(after); }),
      usage_late_(loop, [this] { usage_.wait_is_over(); }),
      audit_(loop, std::move(channels.audit), config_.audit.on_failure),
      patience_(loop, [this] { give_up("cells that do not end"); }),
      limiter_([this](const AuditEntry& record) { audit_.add(record, record.text); }),
      sums_due_(loop, [this] { limiter_.deadline(loop_.now()); }),
      meter_(config_, std::move(channels.metrics)),
      queues_due_(loop, [this] { look_at_queues(); }),
      memory_due_(loop, [this] { when_usage_known([this] { look_at_memory(); }); }),
      pins_(*this, std::move(channels.pins)),
      catalogues_(*this, std::move(channels.catalogues),
                  [this](std::uint32_t server, const Catalogue& found) {
                    pins_.book().see(server, found);
                  }),
      shown_(catalogues_, pins_.book(), policy_.redactions, max_servers),
      shared_(*this, shared_hooks()),
      spares_(*this, spare_hooks()),
      start_queue_(loop, config_, start_hooks()) {
  pins_.take_declared();
  static_cast<void>(pins_.take_decided());  // nobody is there yet who would list anew
}

SupervisorChannel::Receiver Gateway::supervisor_receiver() {
  return {.session = [this](const wire::SessionGrant& grant,
                            Fd connection) { open_session(grant, std::move(connection)); },
          .audit_channel = [this](Fd audit) { audit_.replace(std::move(audit)); },
          .config = [this](const Fd& sealed) { reconfigure(sealed); },
          .closed = [this] { shut_down(); },
          .broken = [this](std::string_view why) { give_up_on("the supervisor", why); }};
}

LauncherChannel::Receiver Gateway::launcher_receiver() {
  return {.event = [this](const wire::CellEvent& event,
                          std::vector<Fd> pipes) { cell_event(event, std::move(pipes)); },
          .broken = [this](std::string_view why) { give_up_on("the launcher", why); }};
}

SharedCells::Hooks Gateway::shared_hooks() {
  return {.settle_sessions = [this] { settle_sharing(); }, .none_left = [this] { end_if_empty(); }};
}

SpareCells::Hooks Gateway::spare_hooks() {
  return {.may_use = [this](std::uint32_t server) { return may_use(server); },
          .may_start = [this](std::uint32_t server) { return may_start_spare(server); },
          .is_anybody_there = [this] { return has_session_of_servers(); },
          .none_left = [this] { end_if_empty(); }};
}

StartQueue::Hooks Gateway::start_hooks() {
  return {.start =
              [this](CellRunner& cell, Fd workspace, std::optional<Time> room_until) {
                ask_launcher(cell, std::move(workspace), room_until);
              },
          .chance =
              [] {
                std::uint64_t number = 0;
                fill_from_kernel(std::as_writable_bytes(std::span(&number, 1)));
                return number;
              },
          .may_ask = [this] { return asked_.size() < max_asked; },
          .make_room = [this](CellRunner& cell, wire::StartRefusal refusal,
                              std::size_t claims) { make_room(cell, refusal, claims); }};
}

void Gateway::give_up(std::string_view why) {
  if (std::exchange(ending_, true)) return;
  if (!why.empty()) spdlog::info("gateway ends: {}", why);
  catalogues_.finish();
  pins_.finish();
  limiter_.finish();
  audit_.flush();
  loop_.stop();
}

void Gateway::record(const AuditEntry& record) {
  const Time now = loop_.now();
  meter(record);
  if (const auto news = news_.recorded(record, user_.uid, now)) spdlog::warn("{}", *news);
  if (takes_of_share(record)) policy_.places.note_in_log(now);
  limiter_.add(record, now);
  const auto due = limiter_.next_due();
  if (due && !sums_due_.is_set()) sums_due_.set(std::chrono::ceil<Milliseconds>(*due - now));
}

void Gateway::give_up_on(std::string_view whom, std::string_view why) {
  give_up(fmt::format("{} {}", whom, why));
}

void Gateway::shut_down() {
  if (std::exchange(shutting_down_, true)) return;
  for (const auto& [connection, session] : sessions_) session->drain(config_.drain);
  start_nothing_if_drained();
  patience_.set(time_to_stop(config_, burial, longest_shut_down));
  end_if_empty();
}

// A call in flight may still need a cell: one of its own, or one that several sessions share.
void Gateway::start_nothing_if_drained() {
  const auto waits = [](const auto& entry) { return entry.second->session().is_draining(); };
  if (!shutting_down_ || std::ranges::any_of(sessions_, waits)) return;
  shared_.stop_all();
  spares_.stop_all();
  start_queue_.close();
}

void Gateway::end_if_empty() {
  if (shutting_down_ && sessions_.empty() && shared_.empty() && spares_.empty()) give_up("");
}

// --- sessions ------------------------------------------------------------------------------------

void Gateway::open_session(const wire::SessionGrant& grant, Fd connection) {
  // This process holds one user's secrets and cells. Another user's connection here is a mistake
  // that nobody may survive.
  const std::uint32_t user = grant.via == wire::SessionVia::admin ? grant.user : grant.uid;
  if (uid_.value_or(user) != user) return give_up("a session of another user");
  uid_ = user;
  policy_.approvals.belong_to(user);
  policy_.refusal_reports.belong_to(user);
  policy_.refusal_reports.ask_for_names([this](std::uint32_t server) {
    const Denied* refused = history_[server].ledger.denied.refused_name();
    return refused == nullptr ? std::string() : refused->allow;
  });
  if (grant.via != wire::SessionVia::admin) user_ = peer_of(grant, config_.http);
  if (sessions_.contains(grant.connection)) return give_up("a connection that is open already");
  open_to_host(connection.get(), grant.via);
  GatewayServices& services = *this;
  auto session = std::make_unique<SessionRunner>(services, peer_of(grant, config_.http),
                                                 std::move(connection));
  SessionRunner& opened = *session;
  sessions_.emplace(grant.connection, std::move(session));
  spares_.look_again();  // his groups may be others now
  if (shutting_down_) opened.stop(Session::StopReason::shutting_down);
}

void Gateway::host_closed(SessionRunner& session) {
  supervisor_.session_closed(static_cast<std::uint32_t>(session.session().peer().session));
}

void Gateway::finished(SessionRunner& session) {
  loop_.defer([this, connection = static_cast<std::uint32_t>(session.session().peer().session)] {
    sessions_.erase(connection);
    spares_.look_again();
    start_nothing_if_drained();
    end_if_empty();
  });
}

void Gateway::settle_sharing() {
  for (const auto& [connection, session] : sessions_) session->settle();
}

// --- requests about all cells --------------------------------------------------------------------

void Gateway::answer_control(const ControlRequest& request, const Peer& peer,
                             ControlAnswered answered) {
  if (request.method == ControlMethod::home) return ask_home(request, peer, std::move(answered));
  if (request.method != ControlMethod::status) return answered(answer_now(request, peer));
  when_usage_known([this, peer, answered = std::move(answered)] { answered(status(peer)); });
}

std::string Gateway::answer_now(const ControlRequest& request, const Peer& peer) {
  if (request.method == ControlMethod::pins) return pins_of(request, peer);
  if (request.method == ControlMethod::approvals) {
    return approvals_json(policy_.approvals, config_, request.approval.number, loop_.now());
  }
  if (request.method == ControlMethod::approve) {
    return decide_json(policy_.approvals, config_, request.approval, peer.uid, loop_.now());
  }
  // The session has asked whether there is one.
  const std::uint32_t index = server_index(config_, request.server).value();
  if (request.method == ControlMethod::approve_next) return allow_next(index, request, peer);
  if (request.method == ControlMethod::pin_accept) {
    return decided(index,
                   pin_accept_reply(pins_.book(), {.server = index, .by = peer.uid}, request.pin));
  }
  if (request.method == ControlMethod::pin_forget) {
    return decided(index,
                   pin_forget_reply(pins_.book(), {.server = index, .by = peer.uid}, request.pin));
  }
  if (request.method == ControlMethod::logs && request.log == LogKind::denied) {
    return denied_json(history_[index].ledger.denied.last(request.lines));
  }
  if (request.method == ControlMethod::logs) {
    const StderrRing& errors = history_[index].errors;
    return logs_json(request.after ? errors.after(*request.after, request.lines)
                                   : errors.last(request.lines));
  }
  if (request.method == ControlMethod::restart) {
    history_[index].last_end.reset();
    catalogues_.forget_server(index);
  }
  const std::size_t stopped = stop_cells(index, request.method);
  // After those that wait to start have been stopped as well.
  if (request.method == ControlMethod::restart)
    loop_.defer([this, index] { start_queue_.reset(index); });
  return stopped_json(stopped);
}

bool Gateway::may_ask_administrator(std::uint32_t server, std::string_view tool) const {
  const FlowPerson person{user_.uid, user_.gid, user_.groups};
  if (flows_may_ask_administrator(config_.flows, config_.servers[server], tool, person)) {
    return true;
  }
  const Subject subject = subject_of(config_.roles, {user_.uid, user_.gid, user_.groups});
  return asks_administrator(Rights(config_.servers[server].rules, subject), tool);
}

std::string Gateway::allow_next(std::uint32_t server, const ControlRequest& request,
                                const Peer& peer) {
  const Time now = loop_.now();
  const ApprovalBeforehand& asked = request.beforehand;
  if (!may_ask_administrator(server, asked.name)) return R"({"allowed":false,"asked":false})";
  const bool is_allowed =
      policy_.approvals.allow_next({.server = server,
                                    .method = std::string(mcp::method::tools_call),
                                    .name = asked.name,
                                    .by = peer.uid,
                                    .until = now + asked.time},
                                   now);
  const std::string name = printable(policy_.argument_texts.name(request.server, asked.name));
  record(audit_record(
      {.server = request.server},
      {.kind = wire::AuditKind::approval,
       .outcome = is_allowed ? wire::AuditOutcome::ok : wire::AuditOutcome::error,
       .tool = name,
       .reason = fmt::format("next within {} s by uid {}", asked.time.count(), peer.uid)}));
  return is_allowed ? R"({"allowed":true})" : R"({"allowed":false})";
}

// What is called there is another thing now than when a call of it was allowed beforehand. Hosts
// that have a list by now ask for it again. Later in this turn, as with stop_cells.
std::string Gateway::decided(std::uint32_t server, std::string reply) {
  policy_.approvals.forget_beforehand(server);
  loop_.defer([this, server, kinds = pins_.take_decided()] {
    for (const auto& change : mcp::list_changes) {
      bool is_changed = kinds.at(static_cast<std::size_t>(change.kind));
      if (change.kind == mcp::ListKind::resources) {
        is_changed = kinds.at(static_cast<std::size_t>(mcp::ListKind::resource_templates));
      }
      if (!is_changed) continue;
      for (const auto& [connection, session] : sessions_)
        session->list_changed(server, change.kind);
    }
  });
  return reply;
}

std::size_t Gateway::stop_cells(std::uint32_t server, ControlMethod why) {
  const std::set<std::uint64_t> sharing = shared_.sessions(server);
  std::size_t cells = shared_.count(server) + spares_.count(server);
  for (const auto& [connection, session] : sessions_) {
    const std::size_t of_session = session->cells_of(server);
    if (of_session == 0 && !sharing.contains(connection)) continue;
    cells += of_session;
    // Later in this turn, so that a session which stops its own cell gets its answer first.
    loop_.defer([this, connection, server, why] {
      const auto found = sessions_.find(connection);
      if (found == sessions_.end()) return;
      if (why == ControlMethod::restart) return found->second->renew_server(server);
      found->second->stop_server(server);
    });
  }
  loop_.defer([this, server] { shared_.stop(server); });
  // At once: one that is taken in this turn would be of before.
  if (why == ControlMethod::restart) {
    spares_.replace(server);
  } else {
    spares_.stop(server);
  }
  return cells;
}

std::vector<CellRow> Gateway::shared_rows(std::uint32_t server) const {
  std::vector<CellRow> rows = shared_.rows(server, loop_.now());
  for (CellRow& row : rows) {
    for (const std::uint64_t number : row.sessions) {
      const auto found = sessions_.find(static_cast<std::uint32_t>(number));
      if (found != sessions_.end()) row.traffic += found->second->session().traffic(server);
    }
  }
  return rows;
}

std::string Gateway::pins_of(const ControlRequest& request, const Peer& peer) const {
  const Peer& whose = peer.is_admin ? user_ : peer;
  const Subject subject = subject_of(config_.roles, {whose.uid, whose.gid, whose.groups});
  return pins_reply(config_, pins_.book(), request, subject,
                    peer.is_admin ? Reach::everything : Reach::own_servers,
                    pins_.is_kept() ? Kept::on_disk : Kept::in_memory);
}

std::string Gateway::status(const Peer& peer) const {
  std::vector<ServerRow> rows;
  const Peer& whose = peer.is_admin ? user_ : peer;
  const Subject subject = subject_of(config_.roles, {whose.uid, whose.gid, whose.groups});
  for (std::uint32_t i = 0; i < config_.servers.size(); ++i) {
    const Rights rights(config_.servers[i].rules, subject);
    if (!rights.may_use_server()) continue;
    ServerRow row{.server = &config_.servers[i], .cells = {}, .last_end = nullptr};
    row.tools = tools_in(rights);
    for (const auto& [connection, session] : sessions_) {
      for (const CellRow& cell : session->rows(i, loop_.now())) row.cells.push_back(cell);
    }
    for (const CellRow& cell : shared_rows(i)) row.cells.push_back(cell);
    for (const CellRow& cell : spares_.rows(i, loop_.now())) row.cells.push_back(cell);
    for (const CellRow& cell : catalogues_.rows(i)) row.cells.push_back(cell);
    for (CellRow& cell : row.cells) cell.usage = usage_.of(cell.cell, loop_.now());
    row.catalogue = catalogues_.view(i);
    row.pins = &pins_.book().of(i);
    row.found_to_server = policy_.redactions.found(i, Direction::to_server);
    row.found_to_host = policy_.redactions.found(i, Direction::to_host);
    row.ledger = &history_[i].ledger;
    row.life = &start_queue_.life(i);
    if (history_[i].last_end) row.last_end = &*history_[i].last_end;
    rows.push_back(std::move(row));
  }
  const auto over_http = std::ranges::count_if(sessions_, [](const auto& entry) {
    const wire::SessionVia via = entry.second->session().peer().via;
    return via == wire::SessionVia::http_socket || via == wire::SessionVia::http_token;
  });
  const bool is_admins = peer.is_admin || is_still_admin(config_, peer.uid);
  return status_json(config_, rows, {whose.uid, static_cast<std::size_t>(over_http)},
                     audit_.health(), is_admins ? Reach::everything : Reach::own_servers);
}

// Homes that servers keep, looked at and cleared for whoever asks.

void Gateway::ask_home(const ControlRequest& request, const Peer& peer, ControlAnswered answered) {
  // The session has asked whether there is one.
  const std::uint32_t server = server_index(config_, request.server).value();
  if (homes_asked_.size() == most_homes_asked) {
    const wire::HomeFacts busy{.answer = wire::HomeAnswer::failed, .error = EBUSY};
    return answered(home_json(config_.servers[server], request.home, busy));
  }
  const std::uint32_t number = next_request_++;
  homes_asked_[number] = {server, request.home, peer.uid, std::move(answered)};
  launcher_.ask_home(number, server, request.home);
}

void Gateway::home_told(const wire::CellEvent& event) {
  const auto found = homes_asked_.find(event.request);
  if (found == homes_asked_.end()) return give_up("an answer about a home that nobody asked for");
  const HomeAsked asked = std::move(found->second);
  homes_asked_.erase(found);
  const Server& server = config_.servers[asked.server];
  if (asked.action == wire::HomeAction::clear && event.home.files > 0) {
    spdlog::info("uid {} has cleared the home of server {}: {} files, {} bytes", asked.by,
                 server.name, event.home.files, event.home.bytes);
  }
  asked.answered(home_json(server, asked.action, event.home));
}

// Another configuration, while sessions are open. See docs/decisions/0037.

namespace {

ServerSet servers_in(const Difference& changes, const Config& config) {
  ServerSet changed;
  for (const ChangedServer& server : changes.servers) changed.add(server.index);
  // What holds for all: roles, bounds of calls.
  for (std::size_t i = 0; !changes.keys.empty() && i < config.servers.size(); ++i) changed.add(i);
  return changed;
}

}  // namespace

// In this order: nothing that is still sized or made by the old configuration may be asked about a
// server of the new one, and no session acts before the rules of all sessions are the new ones.
void Gateway::reconfigure(const Fd& sealed) {
  auto fresh = read_sealed_config(sealed.get());
  if (!fresh) return give_up_on("the supervisor", "sent a configuration that cannot be read");
  const Difference changes = difference(config_, *fresh);
  // What they were started with, short secrets among it, may have changed where no difference is
  // seen.
  for (std::uint32_t i = 0; i < config_.servers.size(); ++i) spares_.replace(i);
  if (changes.empty()) return;
  take_over(config_, std::move(*fresh));
  audit_.set_on_failure(config_.audit.on_failure);
  for (const auto& [connection, session] : sessions_) session->renew_rules();
  start_queue_.add_new(config_);
  policy_.reconfigure();
  for (const ChangedServer& changed : changes.servers) reconfigure(changed);
  spares_.look_again();
  reconfigure_sessions(changes);
}

void Gateway::reconfigure(const ChangedServer& changed) {
  const std::uint32_t server = changed.index;
  const bool is_new = changed.what == ServerChange::added;
  const bool is_back =
      changed.what == ServerChange::returned || changed.what == ServerChange::mended;
  const bool needs_cells = changed.what == ServerChange::cell;
  if (is_new) catalogues_.put_back(server);
  if (is_back || needs_cells) {
    // What it offered was another program's, or said to another host.
    catalogues_.forget_server(server);
    start_queue_.reset(server);
  }
  if (is_new || is_back || changed.is_pinned_otherwise) pins_.begin_anew(server);
  pins_.book().declare(server);
  static_cast<void>(decided(server, {}));
  shown_.reconfigure(server);
  if (needs_cells) shared_.replace_cells(server);
  if (!config_.servers[server].is_usable()) shared_.stop(server);
}

void Gateway::reconfigure_sessions(const Difference& changes) {
  const ServerSet changed = servers_in(changes, config_);
  for (const auto& [connection, session] : sessions_) session->reconfigure(changed);
  for (const ChangedServer& server : changes.servers) {
    if (server.what != ServerChange::cell) continue;
    for (const auto& [connection, session] : sessions_) session->replace_cells(server.index);
  }
}

}  // namespace cellblock::gateway
