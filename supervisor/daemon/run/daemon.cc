#include "supervisor/daemon/run/daemon.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <utility>
#include <variant>

#include "policy/config/broken_parts.h"
#include "policy/config/stop_time.h"
#include "policy/failures/helper_end.h"
#include "supervisor/daemon/helpers/gateway_link.h"
#include "supervisor/daemon/run/refusal.h"
#include "supervisor/daemon/run/service_status.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds sweep_interval{60};
constexpr milliseconds stop_slack{2'000};
constexpr milliseconds longest_stop{30'000};

Bounds bounds_of(const Listen& listen) {
  Bounds bounds;
  bounds.connections_per_user = listen.max_connections_per_user;
  bounds.users = listen.max_users;
  return bounds;
}

constexpr std::string_view not_closed =
    "What came with earlier connections of this user keeps them from being closed (files of a file "
    "system that does not answer?); end what sent it and try again.";

std::string_view mode_name(RunMode mode) {
  return mode == RunMode::system ? "system mode" : "user mode";
}

}  // namespace

Daemon::Daemon(Config& config, std::string declared, LauncherProcess& launcher,
               AuditFiles audit_log, KillSwitch kill_switch)
    : config_(config),
      declared_(std::move(declared)),
      launcher_(launcher),
      kill_switch_(std::move(kill_switch)),
      table_(bounds_of(config.listen), admission()),
      audit_(loop_, config.audit, std::move(audit_log),
             std::bind_front(&LauncherProcess::tell, &launcher_)),
      audit_queue_(loop_, std::bind_front(&AuditLink::add_own_source, &audit_)),
      kill_switch_listener_(loop_, {.said = std::bind_front(&Daemon::on_switch_said, this)}),
      reload_server_(loop_, {.offer = std::bind_front(&Daemon::offer_reload, this),
                             .asked = std::bind_front(&Daemon::on_reload_asked, this),
                             .close_later = [this](Fd socket) { close_later(std::move(socket)); }}),
      signals_(loop_, SIGTERM, SIGINT, SIGHUP),
      sweep_timer_(loop_),
      stop_timer_(loop_) {}

Daemon::~Daemon() {
  if (relay_ != nullptr) relay_->stop_watching();
  static_cast<void>(close_connections());
}

void Daemon::relay_with(LogRelay& relay) {
  relay_ = &relay;
  relay.watch(loop_);
}

Result<void> Daemon::start_audit(milliseconds timeout) {
  CELLBLOCK_CHECK(audit_.start());
  CELLBLOCK_CHECK(launcher_.await(wire::LauncherReportKind::audit_started, timeout));
  audit_.started();
  audit_queue_.renew();
  return {};
}

Result<void> Daemon::start_http(HttpSockets sockets, milliseconds timeout) {
  http_ = std::make_unique<HttpHost>(
      loop_, config_, std::move(sockets),
      HttpHost::Around{.ask_launcher = std::bind_front(&LauncherProcess::tell, &launcher_),
                       .open_session = [this](const Peer& peer) { return open_http_session(peer); },
                       .is_stuck = [this](std::uint32_t uid) { return closer_->is_stuck(uid); },
                       .close_later = [this](Fd socket) { close_later(std::move(socket)); },
                       .wrong_token = std::bind_front(&Daemon::record_wrong_token, this)});
  CELLBLOCK_CHECK(http_->start());
  CELLBLOCK_CHECK(launcher_.await(wire::LauncherReportKind::http_started, timeout));
  http_->started();
  return {};
}

Result<void> Daemon::start_metrics(MetricsSocket socket, milliseconds timeout) {
  metrics_ = CELLBLOCK_TRY(MetricsHost::make(loop_, std::move(socket),
                                             std::bind_front(&LauncherProcess::tell, &launcher_)));
  if (audit_.running()) count(metrics::Metric::audit_writer_starts);
  audit_.on_oldest = [this](std::int64_t time) {
    metrics_->set(metrics::Metric::audit_log_oldest, static_cast<std::uint64_t>(time));
  };
  audit_.on_oldest(audit_.oldest());
  CELLBLOCK_CHECK(metrics_->start());
  CELLBLOCK_CHECK(launcher_.await(wire::LauncherReportKind::metrics_started, timeout));
  metrics_->started();
  return {};
}

Result<void> Daemon::serve(BoundSocket socket, const ServiceNotify& service,
                           const ServiceOffer& offer) {
  service_ = &service;
  Fd channel = CELLBLOCK_TRY(duplicate(launcher_.channel().get()));
  Fd death = CELLBLOCK_TRY(duplicate(launcher_.pidfd().get()));
  const ReadableFd reports(loop_, std::move(channel), [this] { on_launcher_report(); });
  const ReadableFd launcher_death(loop_, std::move(death),
                                  [this] { give_up(Error{"the launcher died"}); });
  wait_for_signal();
  sweep_later();

  closer_ = CELLBLOCK_TRY(ConnectionCloser::make(
      loop_, {.room = [this] { go_on(); },
              .stuck = [this](std::size_t stuck,
                              const ConnectionOwner* owner) { on_stuck(stuck, owner); }}));
  // From here peers can connect.
  const Tenure tenure = socket.is_lent() ? Tenure::lent : Tenure::own;
  listener_ = CELLBLOCK_TRY(Listener::listen(
      loop_, socket.take(), [this](Fd connection) { on_connection(std::move(connection)); },
      tenure));
  make_admin_sockets();
  if (http_) CELLBLOCK_CHECK(http_->listen());
  socket_.emplace(std::move(socket));
  tell_broken();
  const std::size_t servers = config_.servers.size();
  spdlog::info("ready on {} ({} server{}, {}{})", config_.listen.socket, servers,
               servers == 1 ? "" : "s", mode_name(config_.mode),
               tenure == Tenure::lent ? ", socket of the service manager" : "");
  tell_service("READY=1\n");
  start_watchdog(offer);
  loop_.run();
  if (cause_) return std::unexpected(*cause_);
  return {};
}

// --- events -------------------------------------------------------------------------------------

void Daemon::count(metrics::Metric metric) const {
  if (metrics_) metrics_->count(metric);
}

void Daemon::on_connection(Fd socket) {
  count(metrics::Metric::connections);
  auto peer = identify(socket.get());
  if (!peer) return refuse_unidentified(std::move(socket), peer.error());
  admit(std::move(socket), std::move(*peer));
}

void Daemon::admit(Fd socket, Peer peer) {
  if (!may_connect(peer, config_)) return refuse(std::move(socket), FailureCode::not_allowlisted);
  if (closer_->is_stuck(peer.uid)) {
    write_refusal(socket.get(), FailureCode::too_many, not_closed);
    return turn_away(std::move(socket));
  }
  const std::uint32_t uid = peer.uid;
  const ServerSet servers = servers_for(peer, config_);
  const Peer known = peer;
  const Connection connection = next_connection();
  pending_.emplace(connection, Pending{std::move(socket), std::move(peer)});
  act(table_.connected(uid, connection, servers));
  if (table_.knows(uid)) known_peers_.add(known);
}

// Admits or refuses the connection like any other: a refusal is written to it.
Result<Fd> Daemon::open_http_session(const Peer& peer) {
  Pair ends = CELLBLOCK_TRY(make_stream_pair());
  admit(std::move(ends.first), peer);
  return std::move(ends.second);
}

void Daemon::refuse_unidentified(Fd socket, const Error& why) {
  if (!std::exchange(unidentified_said_, true)) {
    spdlog::warn("refused a connection, since it cannot be told whose it is: {}", why.text);
  }
  write_refusal(socket.get(), FailureCode::too_many,
                "The kernel's record of this user cannot be read whole: is the user in more groups "
                "than cellblock allows (256)?");
  turn_away(std::move(socket));
}

void Daemon::on_launcher_report() {
  wire::LauncherReport report;
  const auto received = receive_record(launcher_.channel().get(), report, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  if (!received && received.error().number == EPIPE) return give_up({"the launcher died"});
  if (!received || !received->fds.empty()) return give_up({"the launcher sent nonsense"});
  handle(report);
}

// Accepts the kinds that may come now; any other ends the daemon.
void Daemon::handle(const wire::LauncherReport& report) {
  switch (report.kind) {
    case wire::LauncherReportKind::gateway_started:
      return on_gateway_started(report.uid);
    case wire::LauncherReportKind::gateway_ended:
      return on_gateway_ended(report);
    case wire::LauncherReportKind::audit_started:
      return on_audit_started();
    case wire::LauncherReportKind::audit_ended:
      return on_audit_ended(report);
    case wire::LauncherReportKind::http_started:
      if (!http_) break;
      return http_->started();
    case wire::LauncherReportKind::http_ended:
      if (!http_) break;
      return http_->ended(report.facts);
    case wire::LauncherReportKind::metrics_started:
      if (!metrics_) break;
      return metrics_->started();
    case wire::LauncherReportKind::metrics_ended:
      if (!metrics_) break;
      return metrics_->ended(report.facts);
    case wire::LauncherReportKind::pong:
      return on_launcher_well(report);
    case wire::LauncherReportKind::reloaded:
    case wire::LauncherReportKind::not_reloaded:
      if (!reload_) break;
      return on_reload_answer(report);
    default:
      break;
  }
  give_up({"the launcher sent a report at the wrong time"});
}

void Daemon::on_gateway_started(std::uint32_t uid) {
  spdlog::info("gateway for uid {} started", uid);
  act_or_give_up(table_.gateway_started(uid));
  open_admin_socket(uid);
}

void Daemon::on_gateway_ended(const wire::LauncherReport& report) {
  const auto level = ended_well(report.facts) ? spdlog::level::debug : spdlog::level::warn;
  const auto end = fmt::format("gateway for uid {} {}", report.uid, explain_end(report.facts));
  spdlog::log(level, "{}", end);
  if (!ended_well(report.facts)) last_failure_ = end;
  gateways_.erase(report.uid);
  if (metrics_) metrics_->end_gateway(report.uid);
  close_admin_socket(report.uid);
  act_or_give_up(table_.gateway_ended(report.uid));
  if (!table_.knows(report.uid)) known_peers_.forget(report.uid);
  finish_when_empty();
}

void Daemon::on_session_closed(std::uint32_t uid, Connection connection) {
  const auto closed = table_.session_closed(uid, connection);
  if (!closed) on_gateway_broken(uid, closed.error());
}

void Daemon::on_gateway_broken(std::uint32_t uid, const Error& why) {
  spdlog::error("gateway for uid {} breaks the protocol and is let go: {}", uid, why.text);
  act(table_.expel(uid));
}

void Daemon::on_audit_started() {
  if (audit_.running()) return give_up({"the launcher started a second audit writer"});
  audit_.started();
  count(metrics::Metric::audit_writer_starts);
  audit_queue_.renew();
  spdlog::info("the audit writer is back");
  act(table_.audit_restored());
  tell_service();
}

void Daemon::on_audit_ended(const wire::LauncherReport& report) {
  // While stopping this is the end that finish_when_empty() waits for.
  if (stopping_) return loop_.stop();
  last_failure_ = "the audit writer " + explain_end(report.facts);
  spdlog::error("{}", last_failure_);
  audit_.ended();
  tell_service();
}

void Daemon::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal != SIGHUP) return on_signal();
    on_reload_signal();
    wait_for_signal();
  });
}

// A second signal stops at once.
void Daemon::on_signal() {
  if (stopping_) return loop_.stop();
  start_stopping();
  wait_for_signal();
}

void Daemon::sweep_later() {
  sweep_timer_.expires_after(sweep_interval);
  sweep_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    // Logged once a sweep: a peer that is refused in a loop must not fill the log.
    if (refused_ > 0) spdlog::warn("refused {} connections", std::exchange(refused_, 0));
    tell_refused_attempts();
    wrong_tokens_ = 0;
    unidentified_said_ = false;
    not_taken_said_.clear();
    act(table_.sweep());
    sweep_later();
  });
}

// --- refusals -----------------------------------------------------------------------------------

void Daemon::refuse(Fd socket, FailureCode code) {
  if (code == FailureCode::disabled && config_.enabled && kill_switch_.why()) {
    write_refusal(socket.get(), code, disabled_sentence(kill_switch_.why()->reason));
  } else {
    write_refusal(socket.get(), code);
  }
  turn_away(std::move(socket));
}

// --- the end ------------------------------------------------------------------------------------

// The time in which the slowest server may end by itself.
milliseconds Daemon::stop_patience() const {
  return time_to_stop(config_, stop_slack, longest_stop);
}

void Daemon::start_stopping() {
  stopping_ = true;
  tell_stopping();
  spdlog::info("stopping");
  socket_.reset();
  act(table_.stop());
  if (admin_sockets_) admin_sockets_->close_all();
  kill_switch_listener_.close();
  reload_server_.close();
  end_reloader();
  if (http_) http_->finish();
  listener_->stop();  // now, so that connections in its queue get the refusal
  stop_timer_.expires_after(stop_patience());
  stop_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    spdlog::warn("not everything ended in time; the rest is killed");
    loop_.stop();
  });
  finish_when_empty();
}

// The audit writer ends after the last gateway: the gateways' last records are still to be written.
void Daemon::finish_when_empty() {
  if (!stopping_ || !table_.empty()) return;
  if (metrics_) metrics_->finish();  // not before, so that the last counts can be scraped
  if (!audit_.running()) return loop_.stop();
  audit_.finish();
}

void Daemon::give_up(const Error& why) {
  if (!cause_ && !stopping_) cause_ = why;
  loop_.stop();
}

Admission Daemon::admission() const {
  return config_.enabled && !kill_switch_.is_off() ? Admission::open : Admission::disabled;
}

Fd Daemon::take_pending(Connection connection) {
  const auto pending = pending_.find(connection);
  Fd socket = std::move(pending->second.socket);
  pending_.erase(pending);
  return socket;
}

Connection Daemon::next_connection() {
  do {
    ++last_connection_;
  } while (last_connection_ == 0 || pending_.contains(last_connection_));
  return last_connection_;
}

// --- messages to the service manager ------------------------------------------------------------

void Daemon::start_watchdog(const ServiceOffer& offer) {
  watched_ = offer.watchdog.has_value();
  if (!service_->is_there()) return;
  watchdog_.emplace(loop_, watchdog_interval(offer),
                    [this] { return launcher_.tell({.kind = wire::SupervisorRequestKind::ping}); });
}

// The answer has passed this event loop and the launcher's, so both are alive.
void Daemon::on_launcher_well(const wire::LauncherReport& report) {
  if (!watchdog_ || watchdog_->answered() == LauncherWatchdog::Answer::unasked) {
    return give_up({"the launcher answered what nobody had asked"});
  }
  cells_ = report.cells;
  tell_service(watched_ ? "WATCHDOG=1\n" : "");
}

void Daemon::tell_service(std::string_view with) const {
  if (stopping_) return service_->send(with);
  const ServiceFacts facts{.servers = config_.servers.size(),
                           .users = gateways_.size(),
                           .cells = cells_,
                           .broken = broken_parts(config_).size(),
                           .switched_off = admission() == Admission::disabled,
                           .audit_runs = audit_.running(),
                           .stuck_closes = stuck_,
                           .stuck_uid = stuck_uid_,
                           .last_failure = last_failure_};
  service_->send(std::string(with) + "STATUS=" + status_line(facts));
}

// Called at the start and after each reload: only these change the broken parts.
void Daemon::tell_broken() const {
  const std::vector<std::string> lines = journal_lines(config_);
  for (const std::string& line : lines) spdlog::warn("{}", line);
  if (metrics_) metrics_->set(metrics::Metric::broken, lines.size());
}

void Daemon::tell_stopping() const {
  const auto users = gateways_.size();
  service_->send("STOPPING=1\nSTATUS=stopping: the sessions of " + std::to_string(users) +
                 (users == 1 ? " user end" : " users end"));
}

// --- closing connections ------------------------------------------------------------------------

namespace {

// Peers that no list names are counted together; the daemon's own uid is not among them.
ConnectionOwner owner_of(int socket, const Config& config) {
  const auto peer = identify(socket);
  if (!peer) return {};
  const bool is_served =
      peer->uid == ::geteuid() || may_connect(*peer, config) || is_admin(*peer, config);
  return {peer->uid, is_served ? ConnectionOwner::Kind::user : ConnectionOwner::Kind::stranger};
}

}  // namespace

// The peer sees the end now, although close() may come later.
void Daemon::turn_away(Fd socket) {
  ++refused_;
  count(metrics::Metric::connections_refused);
  ::shutdown(socket.get(), SHUT_RDWR);
  close_later(std::move(socket));
}

void Daemon::close_later(Fd socket) {
  const ConnectionOwner owner = owner_of(socket.get(), config_);
  closer_->add(std::move(socket), owner);
  if (closer_->has_room() || !listener_) return;
  listener_->hold();
  if (admin_sockets_) admin_sockets_->hold();
  if (http_) http_->hold();
}

void Daemon::on_stuck(std::size_t stuck, const ConnectionOwner* owner) {
  stuck_ = stuck;
  if (metrics_) metrics_->set(metrics::Metric::stuck_closes, stuck);
  if (owner != nullptr) {
    stuck_uid_ = owner->uid;
    const bool is_user = owner->kind == ConnectionOwner::Kind::user;
    spdlog::warn(
        "connections of uid {} cannot be closed: the last close of a descriptor that came with one "
        "waits, as for a file system that does not answer; {} until it ends; to end it, end what "
        "serves that file system, or all processes of that user",
        owner->uid,
        is_user ? "this user gets no session" : "those whom no allow list names wait behind it");
  }
  tell_service();
}

void Daemon::go_on() {
  listener_->go_on();
  if (admin_sockets_) admin_sockets_->go_on();
  if (http_) http_->go_on();
}

std::vector<pid_t> Daemon::close_connections() {
  http_.reset();
  admin_sockets_.reset();
  if (!closer_) return {};
  for (auto& [connection, pending] : std::exchange(pending_, {}))
    close_later(std::move(pending.socket));
  return closer_->finish();
}

}  // namespace cellblock::daemon
