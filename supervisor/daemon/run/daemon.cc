#include "supervisor/daemon/run/daemon.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "policy/config/broken_parts.h"
#include "policy/failures/helper_end.h"
#include "supervisor/daemon/status/installation_report.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds sweep_interval{60};

std::string_view mode_name(RunMode mode) {
  return mode == RunMode::system ? "system mode" : "user mode";
}

}  // namespace

Daemon::Daemon(const Around& around, Owned owned)
    : config_(around.config),
      declared_(std::move(owned.declared)),
      launcher_(around.launcher),
      relay_(around.relay),
      kill_switch_(std::move(owned.kill_switch)),
      helpers_(loop_, config_, launcher_, std::move(owned.audit_log)),
      ender_(config_, kill_switch_, helpers_,
             {.full = [this] { hold(); },
              .room = [this] { go_on(); },
              .stuck = [this] { service_.changed(); }}),
      gateways_(loop_,
                {.config = config_, .launcher = launcher_, .helpers = helpers_, .ender = ender_},
                admission(),
                {.opened = [this](std::uint32_t uid) { administration_.open(uid); },
                 .closed = [this](std::uint32_t uid) { administration_.close(uid); },
                 .give_up = [this](const Error& why) { give_up(why); }}),
      refusals_(config_, helpers_.audit_queue()),
      administration_(
          loop_,
          {.config = config_,
           .kill_switch = kill_switch_,
           .audit_queue = helpers_.audit_queue(),
           .ender = ender_,
           .gateways = gateways_,
           .refusals = refusals_},
          {.status = [this] { return status(); },
           .reload = [this](const Peer& peer, Fd socket) { reload_.add(peer, std::move(socket)); },
           .switched = [this] { service_.changed(); }}),
      service_({.config = config_,
                .service = around.service,
                .launcher = launcher_,
                .helpers = helpers_},
               [this] { return facts(); }),
      reload_(
          loop_,
          {.config = config_,
           .launcher = launcher_,
           .audit_queue = helpers_.audit_queue(),
           .service = service_},
          std::move(owned.reload_facts), std::move(owned.program),
          {.use = [this](Config config, std::string declared,
                         const Fd& sealed) { use(std::move(config), std::move(declared), sealed); },
           .close_later = [this](Fd socket) { ender_.close_later(std::move(socket)); }}),
      signals_(loop_, SIGTERM, SIGINT, SIGHUP),
      sweep_timer_(loop_),
      stop_timer_(loop_) {
  relay_.watch(loop_);
}

Daemon::~Daemon() {
  relay_.stop_watching();
  static_cast<void>(close_connections());
}

Result<void> Daemon::start_helpers(HttpSockets http_sockets, MetricsSocket metrics_socket,
                                   milliseconds timeout) {
  CELLBLOCK_CHECK(helpers_.start_audit(timeout));
  if (config_.http) {
    CELLBLOCK_CHECK(helpers_.start_http(
        std::move(http_sockets),
        {.open_session = [this](const Peer& peer) { return open_http_session(peer); },
         .is_stuck = [this](std::uint32_t uid) { return ender_.is_stuck(uid); },
         .close_later = [this](Fd socket) { ender_.close_later(std::move(socket)); },
         .wrong_token =
             [this](const std::string& from, std::uint32_t requests) {
               refusals_.record_wrong_token(from, requests);
             }},
        timeout));
  }
  if (config_.metrics) CELLBLOCK_CHECK(helpers_.start_metrics(std::move(metrics_socket), timeout));
  return {};
}

Result<void> Daemon::serve(BoundSocket socket, const ServiceOffer& offer) {
  Fd channel = CELLBLOCK_TRY(duplicate(launcher_.channel().get()));
  Fd death = CELLBLOCK_TRY(duplicate(launcher_.pidfd().get()));
  const ReadableFd reports(loop_, std::move(channel), [this] { on_launcher_report(); });
  const ReadableFd launcher_death(loop_, std::move(death),
                                  [this] { give_up(Error{"the launcher died"}); });
  wait_for_signal();
  sweep_later();
  CELLBLOCK_CHECK(listen(std::move(socket)));
  service_.ready();
  service_.start_watchdog(loop_, offer);
  loop_.run();
  if (cause_) return std::unexpected(*cause_);
  return {};
}

Result<void> Daemon::listen(BoundSocket socket) {
  CELLBLOCK_CHECK(ender_.start(loop_));
  // From here peers can connect.
  const Tenure tenure = socket.is_lent() ? Tenure::lent : Tenure::own;
  listener_ = CELLBLOCK_TRY(Listener::listen(
      loop_, socket.take(), [this](Fd connection) { on_connection(std::move(connection)); },
      tenure));
  administration_.listen(loop_);
  if (HttpHost* http = helpers_.http()) CELLBLOCK_CHECK(http->listen());
  socket_.emplace(std::move(socket));
  service_.tell_broken();
  const std::size_t servers = config_.servers.size();
  spdlog::info("ready on {} ({} server{}, {}{})", config_.listen.socket, servers,
               servers == 1 ? "" : "s", mode_name(config_.mode),
               tenure == Tenure::lent ? ", socket of the service manager" : "");
  return {};
}

// --- connections --------------------------------------------------------------------------------

void Daemon::on_connection(Fd socket) {
  helpers_.count(metrics::Metric::connections);
  auto peer = identify(socket.get());
  if (!peer) return ender_.refuse_unidentified(std::move(socket), peer.error());
  gateways_.connect(std::move(socket), std::move(*peer));
}

// Admits or refuses the connection like any other: a refusal is written to it.
Result<Fd> Daemon::open_http_session(const Peer& peer) {
  Pair ends = CELLBLOCK_TRY(make_stream_pair());
  gateways_.connect(std::move(ends.first), peer);
  return std::move(ends.second);
}

void Daemon::hold() {
  if (!listener_) return;
  listener_->hold();
  administration_.hold();
  if (HttpHost* http = helpers_.http()) http->hold();
}

void Daemon::go_on() {
  listener_->go_on();
  administration_.go_on();
  if (HttpHost* http = helpers_.http()) http->go_on();
}

std::vector<pid_t> Daemon::close_connections() {
  helpers_.close_http();
  administration_.close_sockets();
  gateways_.close_waiting();
  return ender_.finish();
}

// --- the launcher's reports ---------------------------------------------------------------------

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
      return gateways_.started(report.uid);
    case wire::LauncherReportKind::gateway_ended:
      return on_gateway_ended(report);
    case wire::LauncherReportKind::audit_started:
      return on_audit_started();
    case wire::LauncherReportKind::audit_ended:
      return on_audit_ended(report);
    case wire::LauncherReportKind::http_started:
    case wire::LauncherReportKind::http_ended:
      if (helpers_.http_reported(report)) return;
      break;
    case wire::LauncherReportKind::metrics_started:
    case wire::LauncherReportKind::metrics_ended:
      if (helpers_.metrics_reported(report)) return;
      break;
    case wire::LauncherReportKind::pong:
      if (service_.launcher_answered(report.cells)) return;
      return give_up({"the launcher answered what nobody had asked"});
    case wire::LauncherReportKind::reloaded:
    case wire::LauncherReportKind::not_reloaded:
      if (reload_.launcher_answered(report)) return;
      break;
    default:
      break;
  }
  give_up({"the launcher sent a report at the wrong time"});
}

void Daemon::on_gateway_ended(const wire::LauncherReport& report) {
  const auto level = ended_well(report.facts) ? spdlog::level::debug : spdlog::level::warn;
  const auto end = fmt::format("gateway for uid {} {}", report.uid, explain_end(report.facts));
  spdlog::log(level, "{}", end);
  if (!ended_well(report.facts)) last_failure_ = end;
  gateways_.ended(report.uid);
  finish_when_empty();
}

void Daemon::on_audit_started() {
  if (helpers_.audit().running()) return give_up({"the launcher started a second audit writer"});
  helpers_.audit_started();
  gateways_.renew_audit_channels();
  service_.changed();
}

void Daemon::on_audit_ended(const wire::LauncherReport& report) {
  // While stopping this is the end that finish_when_empty() waits for.
  if (stopping_) return loop_.stop();
  last_failure_ = "the audit writer " + explain_end(report.facts);
  spdlog::error("{}", last_failure_);
  helpers_.audit().ended();
  service_.changed();
}

// --- signals and time ---------------------------------------------------------------------------

void Daemon::wait_for_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal != SIGHUP) return on_signal();
    reload_.on_signal();
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
    ender_.sweep();
    refusals_.sweep();
    gateways_.sweep();
    sweep_later();
  });
}

// --- another configuration, and what is told of this one ----------------------------------------

// New connections are admitted by the new rules from here.
void Daemon::use(Config config, std::string declared, const Fd& sealed) {
  config_ = std::move(config);
  declared_ = std::move(declared);
  administration_.reconfigure();
  gateways_.admit(admission());
  gateways_.reconfigure(sealed.get());
  helpers_.reconfigure(sealed);
}

Admission Daemon::admission() const {
  return config_.enabled && !kill_switch_.is_off() ? Admission::open : Admission::disabled;
}

ServiceFacts Daemon::facts() const {
  return {.servers = config_.servers.size(),
          .users = gateways_.size(),
          .cells = service_.cells(),
          .broken = broken_parts(config_).size(),
          .switched_off = admission() == Admission::disabled,
          .audit_runs = helpers_.audit().running(),
          .stuck_closes = ender_.stuck().children,
          .stuck_uid = ender_.stuck().uid,
          .last_failure = last_failure_};
}

std::string Daemon::status() const {
  const auto& why = kill_switch_.why();
  const InstallationState state{.switched_off = kill_switch_.is_off(),
                                .switched_by = why ? std::optional(why->by) : std::nullopt,
                                .reason = why ? why->reason : "",
                                .audit_runs = helpers_.audit().running(),
                                .users = gateways_.size(),
                                .cells = service_.cells(),
                                .last_failure = last_failure_};
  return installation_json(config_, state, declared_);
}

// --- the end ------------------------------------------------------------------------------------

void Daemon::start_stopping() {
  stopping_ = true;
  service_.stopping(gateways_.size());
  spdlog::info("stopping");
  socket_.reset();
  gateways_.stop();
  administration_.stop();
  reload_.stop();
  if (HttpHost* http = helpers_.http()) http->finish();
  listener_->stop();  // now, so that connections in its queue get the refusal
  stop_timer_.expires_after(stop_patience(config_));
  stop_timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    spdlog::warn("not everything ended in time; the rest is killed");
    loop_.stop();
  });
  finish_when_empty();
}

// The audit writer ends after the last gateway: the gateways' last records are still to be written.
void Daemon::finish_when_empty() {
  if (!stopping_ || !gateways_.empty()) return;
  if (MetricsHost* host = helpers_.metrics_host()) {
    host->finish();  // not before, so that the last counts can be scraped
  }
  if (!helpers_.audit().running()) return loop_.stop();
  helpers_.audit().finish();
}

void Daemon::give_up(const Error& why) {
  if (!cause_ && !stopping_) cause_ = why;
  loop_.stop();
}

}  // namespace cellblock::daemon
