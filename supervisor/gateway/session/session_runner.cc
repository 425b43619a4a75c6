#include "supervisor/gateway/session/session_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "supervisor/gateway/checks/user_policy.h"

namespace cellblock::gateway {

namespace {

// Queued bytes at which one side is held back because the other does not read, and at which it goes
// on.
constexpr std::size_t high_water = 1U << 20;
constexpr std::size_t low_water = 256U << 10;
// An overlong line is skipped for as many bytes again as the limit, and at least for so many: it
// may still end.
constexpr std::size_t least_skipped = 8U << 20;

// One bound for all servers, since the server is not known before the attach; the session applies
// the server's own.
HostLink::Bounds bounds_of(const Config& config) {
  HostLink::Bounds bounds{.max_line = 64U << 10, .max_queued = 4U << 20};
  for (const Server& server : config.servers) {
    bounds.max_line = std::max<std::size_t>(bounds.max_line, server.lines.from_host);
    bounds.max_queued =
        std::max<std::size_t>(bounds.max_queued, 2 * server.lines.to_host + (4U << 20));
  }
  return bounds;
}

SharedParts shared_parts(GatewayServices& services) {
  return {.config = services.config(),
          .ids = services.ids(),
          .scanner = services.scanner(),
          .sealer = services.sealer(),
          .policy = services.policy(),
          .pins = &services.pins(),
          .kept_total = &services.kept_total()};
}

/// The deadline of one machine; its effects are carried out at once.
class TimerAlarm final : public Alarm {
 public:
  TimerAlarm(EventLoop& loop, std::function<void()> rings) : timer_(loop, std::move(rings)) {}

  void set(std::optional<Milliseconds> from_now) override {
    if (from_now) {
      timer_.set(*from_now);
    } else {
      timer_.cancel();
    }
  }

 private:
  Timer timer_;
};

std::string_view way_of(wire::SessionVia via) {
  switch (via) {
    case wire::SessionVia::socket:
      break;
    case wire::SessionVia::http_socket:
      return "http_socket";
    case wire::SessionVia::http_token:
      return "http_token";
    case wire::SessionVia::admin:
      return "admin";
  }
  return {};
}

std::string holds_too_much(std::size_t most) {
  return fmt::format(
      "the sessions of this user hold more than {} MiB of lines without an end and of answers that "
      "nobody has read: finish or read some, then connect again",
      most >> 20U);
}

bool is_of(const CellRunner& cell, std::uint32_t server) {
  return cell.cell().plan().server == server && !cell.cell().is_over();
}

HostPatience::Bounds patience_of(const Config& config) {
  return {.first_message = config.listen.first_message,
          .line = config.listen.line,
          .most_skipped = std::max(least_skipped, bounds_of(config).max_line)};
}

}  // namespace

SessionRunner::SessionRunner(GatewayServices& services, Peer peer, Fd connection)
    : services_(services),
      session_(std::move(peer), shared_parts(services), *this),
      host_(services.loop(), std::move(connection), bounds_of(services.config()), host_receiver()),
      held_(services.policy().held),
      deadline_(services.loop(),
                [this] {
                  session_.deadline(now());
                  settle();
                }),
      patience_(patience_of(services.config()), services.loop().now()),
      patience_due_(services.loop(), [this] {
        patience_set_.reset();
        settle();
      }) {
  const HostLink::Bounds bounds = bounds_of(services.config());
  services.policy().held.allow_at_least(2 * (bounds.max_line + bounds.max_queued));
  watch_host();
  const Peer& who = session_.peer();
  const std::string admin = who.is_admin ? fmt::format("uid {}", who.uid) : std::string();
  record({}, {.kind = wire::AuditKind::session_opened,
              .tool = who.is_admin ? std::string_view(admin) : who.token,
              .reason = way_of(who.via)});
}

HostLink::Receiver SessionRunner::host_receiver() {
  return {.line = [this](std::string_view line) { session_.host_line(line, now()); },
          .too_long = [this](std::size_t seen) { session_.host_line_too_long(seen); },
          .ended = [this](HostEnd how) { session_.host_ended(how, now()); },
          .turn_done = [this] { settle(); },
          .arrived =
              [this](std::optional<std::string_view> unread) {
                if (journal_) journal_->begins_with(unread);
              }};
}

void SessionRunner::stop(Session::StopReason reason) {
  session_.stop(reason, now());
  settle();
}

void SessionRunner::drain(Milliseconds longest) {
  session_.drain(longest, now());
  settle();
}

void SessionRunner::stop_server(std::uint32_t server) {
  session_.stop_server(server, now());
  settle();
}

void SessionRunner::renew_server(std::uint32_t server) {
  session_.renew_server(server, now());
  settle();
}

void SessionRunner::replace_cells(std::uint32_t server) {
  session_.replace_server(server, now());
  settle();
}

void SessionRunner::reconfigure(const ServerSet& changed) {
  session_.reconfigure(changed, now());
  settle();
}

void SessionRunner::list_changed(std::uint32_t server, mcp::ListKind kind) {
  session_.list_changed(server, kind, now());
  settle();
}

// --- effects -------------------------------------------------------------------------------------

void SessionRunner::to_host(Slices message) {
  if (!host_.is_closing()) host_.to_mcp(message);
}

DescriptorsTaken SessionRunner::take_descriptors(const DescriptorOffer& offer) {
  const DescriptorsTaken taken = host_.take_descriptors(offer);
  workspace_ = host_.take_workspace();
  if (auto memory = host_.take_journal()) {
    journal_.emplace(std::move(memory),
                     SessionJournal::Source{
                         .memory_version = [this] { return session_.memory_version(); },
                         .memory = [this] { return session_.memory_text(); },
                         .is_owed = [this](std::string_view id) { return session_.owes(id); }});
  }
  return taken;
}

// A session may need more than one cell, one after the other. Without a copy the cell is refused.
Fd SessionRunner::workspace_for(const CellPlan& plan) {
  return plan.has_workspace && workspace_.valid()
             ? Fd(::fcntl(workspace_.get(), F_DUPFD_CLOEXEC, 0))
             : Fd();
}

std::unique_ptr<Alarm> SessionRunner::make_alarm(Alarm::Rings rings) {
  return std::make_unique<TimerAlarm>(services_.loop(), [this, rings = std::move(rings)] {
    rings(now());
    settle();
  });
}

Catalogues::Waiter SessionRunner::want_catalogue(std::uint32_t server, Told told) {
  return services_.catalogues().want(
      server, [this, told = std::move(told)](const Catalogue* catalogue, const Failure& failure) {
        told(catalogue, failure, now());
        settle();
      });
}

ServerCell& SessionRunner::make_cell(const CellPlan& plan) {
  if (is_shared(services_.config().servers[plan.server], plan)) {
    shared_.add(plan.server);
    return services_.shared_cell(plan.server);
  }
  CellKeeper& keeper = *this;
  const CellOwner owner{.pid = session_.peer().pid, .session = session_.peer().session};
  cells_.push_back(services_.make_cell(plan, owner, workspace_for(plan), keeper));
  return cells_.back()->cell();
}

// Redacts names, which are text of the host or the server.
std::string SessionRunner::name_in_record(const AuditPlace& place, const AuditNote& note) {
  using enum wire::AuditKind;
  constexpr std::array of_messages{call, call_ended, refused, finding, flow, approval};
  if (std::ranges::find(of_messages, note.kind) == of_messages.end()) return std::string(note.tool);
  return services_.policy().argument_texts.name(place.server, note.tool);
}

void SessionRunner::set_deadline(std::optional<Milliseconds> from_now) {
  if (from_now) {
    deadline_.set(*from_now);
  } else {
    deadline_.cancel();
  }
}

// Redacts before cutting, since half a secret is not recognised.
void SessionRunner::record(const AuditPlace& place, const AuditNote& said) {
  AuditNote note = said;
  const std::string name = name_in_record(place, note);
  note.tool = name;
  const AuditOrigin origin{.pid = session_.peer().pid,
                           .session = session_.peer().session,
                           .cell = place.cell,
                           .server = place.server};
  services_.record(audit_record(origin, note));
}

void SessionRunner::when_recorded(WhenRecorded then) {
  services_.when_recorded(
      [this, here = std::weak_ptr(here_), then = std::move(then)](AuditState log) {
        if (here.expired()) return;
        then(log, now());
        settle_later();
      });
}

// A late answer comes between turns of this session, so it is followed by a turn's end, too.
void SessionRunner::answer_control(const ControlRequest& request, ControlAnswered answered) {
  services_.answer_control(
      request, session_.peer(),
      [this, here = std::weak_ptr(here_), answered = std::move(answered)](const std::string& text) {
        if (here.expired() || session_.is_over()) return;
        answered(text, now());
        settle_later();
      });
}

// --- the end of each turn ------------------------------------------------------------------------

// Runs once for all calls of this turn: their lines go to a cell in one write.
void SessionRunner::settle_later() {
  if (std::exchange(settling_comes_, true)) return;
  services_.loop().defer([this, here = std::weak_ptr(here_)] {
    if (here.expired()) return;
    settling_comes_ = false;
    settle();
  });
}

void SessionRunner::settle() {
  session_.tell_own_tools(now());
  host_.deliver();
  settle_cells();
  watch_host();
  check_host();
  host_.flush();
  note_turn();
  balance();
  retire();
}

// All output of this turn has been sent or queued.
void SessionRunner::note_turn() {
  if (journal_) journal_->turn_ends(host_.unread(), host_.queued());
}

// Iterates by index, since a cell's end may add another cell.
void SessionRunner::settle_cells() {
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i]->settle();
}

// Leaves the timer alone unless it is too late: most lines arrive whole.
void SessionRunner::watch_host() {
  if (host_.is_closing()) return patience_due_.cancel();
  patience_.look(host_.progress(), host_.is_held(), now());
  session_.give_host_up(patience_.verdict(now()), now());
  const auto due = patience_.due();
  if (!due || (patience_set_ && *patience_set_ <= *due) || host_.is_closing()) return;
  patience_set_ = due;
  patience_due_.set(std::chrono::ceil<Milliseconds>(*due - now()));
}

void SessionRunner::check_host() {
  check_held();
  const WriterState to_host = host_.output_state();
  if (to_host == WriterState::open || host_.is_closing()) return;
  if (to_host == WriterState::overflowed) {
    spdlog::warn("session {}: its host reads nothing, and more is waiting for it than may",
                 session_.peer().session);
  }
  session_.host_ended(HostEnd::gone, now());
}

void SessionRunner::check_held() {
  if (held_.set(host_.held()) || host_.is_closing()) return;
  spdlog::warn("session {}: ended, since the sessions of its user hold more than may be held",
               session_.peer().session);
  const Failure failure{.code = FailureCode::too_many,
                        .message = holds_too_much(services_.policy().held.most())};
  to_host(std::array<std::string_view, 2>{error_reply({}, failure), "\n"});
  session_.host_ended(HostEnd::gone, now());
}

// Never holds a side back for its own queue: a side that reads nothing until it has written
// everything would wait for ever. Nor does it hold back a host of many servers for the queue of
// one, which has its own bound.
void SessionRunner::balance() {
  const std::size_t fullest = session_.has_many_servers() ? 0 : fullest_queue();
  if (fullest > high_water) host_.set_paused(true);
  if (fullest < low_water) host_.set_paused(false);
  const std::size_t waiting = host_.is_closing() ? 0 : host_.queued();
  for (const auto& cell : cells_) {
    if (waiting > high_water) cell->set_paused(true);
    if (waiting < low_water) cell->set_paused(false);
  }
}

// Never holds back a shared cell for one of its hosts, since that would hold back the others. A
// host that does not read loses its session when its queue is full.
std::size_t SessionRunner::fullest_queue() const {
  std::size_t fullest = 0;
  for (const auto& cell : cells_) fullest = std::max(fullest, cell->queued());
  for (std::uint32_t i = 0; i < services_.config().servers.size(); ++i) {
    if (shared_.contains(i)) fullest = std::max(fullest, services_.queued_for_shared(i));
  }
  return fullest;
}

// A cell that is over may still be in one of its own callbacks.
void SessionRunner::retire() {
  for (auto& cell : cells_) {
    if (!cell->is_over()) continue;
    services_.loop().defer([done = std::shared_ptr<CellRunner>(std::move(cell))] {});
  }
  std::erase(cells_, nullptr);
  if (!host_.is_closed()) return;
  if (!std::exchange(host_reported_, true)) services_.host_closed(*this);
  if (session_.is_over() && cells_.empty() && !std::exchange(finished_, true)) {
    services_.finished(*this);
  }
}

// --- what status shows ---------------------------------------------------------------------------

std::size_t SessionRunner::cells_of(std::uint32_t server) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(cells_, [server](const auto& cell) { return is_of(*cell, server); }));
}

std::vector<CellRow> SessionRunner::rows(std::uint32_t server, Time at) const {
  std::vector<CellRow> rows;
  for (const auto& cell : cells_) {
    if (!is_of(*cell, server) || cell->cell().id() == 0) continue;
    CellRow row = cell->row(at);
    row.traffic = session_.traffic(server);
    row.malformed_lines = session_.malformed_lines();
    row.labels = session_.labels();
    rows.push_back(row);
  }
  return rows;
}

}  // namespace cellblock::gateway
