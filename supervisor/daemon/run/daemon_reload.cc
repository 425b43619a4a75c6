#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <utility>

#include "policy/config/config_bytes.h"
#include "policy/reload/difference.h"
#include "policy/reload/places.h"
#include "supervisor/daemon/run/daemon.h"
#include "supervisor/daemon/run/refusal.h"
#include "supervisor/daemon/status/reload_refusal.h"
#include "supervisor/ipc/sealed_config.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/spawn.h"

/// Takes another configuration at run time: first the launcher, and only then the other processes.
namespace cellblock::daemon {
namespace {

constexpr std::string_view for_root_only =
    "Only root brings another configuration; with --user, the user himself.";

}  // namespace

void Daemon::take_reloads(ReloadFacts facts, Fd program) {
  reload_facts_ = std::move(facts);
  program_ = std::move(program);
}

// --- the asker ----------------------------------------------------------------------------------

void Daemon::on_reload_peer(Fd socket) {
  const auto peer = identify(socket.get());
  if (!peer) return refuse_unidentified(std::move(socket), peer.error());
  if (!may_reload(*peer, config_)) {
    record_refused(*peer, "reload", "");
    write_refusal(socket.get(), FailureCode::denied, for_root_only);
    return turn_away(std::move(socket));
  }
  reload_server_.add({.uid = peer->uid, .pid = peer->pid}, std::move(socket));
}

Result<ReloadMessage> Daemon::offer_reload() const {
  if (reload_) return fail("another reload is not done yet");
  Fd config = CELLBLOCK_TRY(make_sealed("cellblock-config", encode(config_)));
  return ReloadMessage{std::move(config), CELLBLOCK_TRY(seal(reload_facts_))};
}

// A child reads the files, with the rights that this process has kept.
void Daemon::on_reload_signal() {
  if (stopping_) return;
  // The running child may have read the files before their last change.
  if (reloader_ >= 0) {
    reload_again_ = true;
    return spdlog::info("another reload follows the one that is under way");
  }
  const auto started = start_reloader();
  if (!started) spdlog::error("cannot reload: {}", started.error().text);
}

Result<void> Daemon::start_reloader() {
  Pair ends = CELLBLOCK_TRY(make_stream_pair());
  std::vector<std::string> words{"cellblockd", "--reload", "--quiet",
                                 "--config=" + reload_facts_.config_path};
  if (config_.mode == RunMode::user) words.emplace_back("--user");
  const std::array fds{ends.second.get()};
  reloader_ = CELLBLOCK_TRY(spawn(program_.get(), words, fds, Environment::ours));
  Fd death = open_pidfd(reloader_);
  if (!death.valid()) {
    const auto error = sys_fail("pidfd_open");
    end_reloader();
    return error;
  }
  reloader_ended_ =
      std::make_unique<ReadableFd>(loop_, std::move(death), [this] { on_reloader_ended(); });
  reload_server_.add({.uid = ::getuid(), .pid = ::getpid()}, std::move(ends.first));
  return {};
}

void Daemon::on_reloader_ended() {
  end_reloader();
  if (std::exchange(reload_again_, false)) on_reload_signal();
}

void Daemon::end_reloader() {
  reloader_ended_.reset();
  if (reloader_ < 0) return;
  ::kill(reloader_, SIGKILL);  // its commands die with it
  ::waitpid(std::exchange(reloader_, -1), nullptr, 0);
}

// --- the reload ---------------------------------------------------------------------------------

void Daemon::on_reload_asked(const ReloadServer::Asker& asker, ReloadRequest request) {
  const auto begun = begin_reload(asker, std::move(request));
  if (begun) return;
  refuse_reload(asker, begun.error().text);
}

void Daemon::refuse_reload(const ReloadServer::Asker& asker, const std::string& why) {
  spdlog::error("the new configuration of uid {} is not used: {}", asker.uid, why);
  reload_server_.answer("refused\n" + why + "\n");
  record_reload(asker, wire::AuditOutcome::error, why);
}

void Daemon::record_reload(const ReloadServer::Asker& asker, wire::AuditOutcome outcome,
                           const std::string& text) {
  audit_queue_.add(
      record_of({.which = "reload", .by = asker.uid, .pid = asker.pid, .outcome = outcome}),
      text.substr(0, wire::max_audit_text));
}

Result<void> Daemon::begin_reload(const ReloadServer::Asker& asker, ReloadRequest request) {
  if (reload_) return fail("another reload is not done yet");
  Config next = CELLBLOCK_TRY(read_sealed_config(request.config.get()));
  if (!keeps_places(config_, next)) return fail("it was made from another configuration than ours");
  const Difference changes = difference(config_, next);
  if (const auto refusal = refusal_of(changes); !refusal.empty()) return fail(refusal);
  std::string declared = CELLBLOCK_TRY(read_declared_parts(request.declared.get()));
  CELLBLOCK_CHECK(launcher_.reload(request.config, request.secrets, request.owner_mounts));
  reload_.emplace(Reload{.asker = asker,
                         .config = std::move(next),
                         .sealed = std::move(request.config),
                         .declared = std::move(declared),
                         .changes = lines_of(changes)});
  service_->send("RELOADING=1\nSTATUS=reloading");
  return {};
}

void Daemon::on_reload_answer(const wire::LauncherReport& report) {
  const bool is_taken = report.kind == wire::LauncherReportKind::reloaded;
  const std::string refusal =
      is_taken ? std::string() : explain_not_reloaded(report, reload_->config);
  if (is_taken) use_reloaded();
  end_reload(refusal);
}

// New connections are admitted by the new rules from here. The launcher's permissions are narrowed
// before the gateways get the configuration.
void Daemon::use_reloaded() {
  config_ = std::move(reload_->config);
  declared_ = std::move(reload_->declared);
  if (admin_sockets_) {
    const auto admitted = admin_sockets_->reconfigure(config_);
    if (!admitted) spdlog::error("administrators' sockets: {}", admitted.error().text);
  }
  act(table_.admit(admission()));
  if (admission() == Admission::disabled) end_leaving_soon();
  act(table_.permit_only(
      [this](std::uint32_t uid) { return known_peers_.servers_for(uid, config_); }));
  std::vector<std::uint32_t> deaf;
  for (const auto& [uid, gateway] : gateways_) {
    const auto sent = gateway->reconfigure(reload_->sealed.get());
    if (!sent) deaf.push_back(uid);
  }
  for (const std::uint32_t uid : deaf) {
    on_gateway_broken(uid, Error{"it does not take the new configuration"});
  }
  if (http_) http_->reconfigure(reload_->sealed);
  if (const auto told = audit_.reconfigure(); !told) {
    spdlog::error("the audit writer is not told of the new [audit]: {}", told.error().text);
  }
  if (metrics_) metrics_->config_changed();
}

void Daemon::end_reload(const std::string& refusal) {
  const Reload done = *std::exchange(reload_, std::nullopt);
  if (refusal.empty()) {
    const std::string changes = done.changes.empty()
                                    ? "nothing has changed"
                                    : fmt::format("{}", fmt::join(done.changes, "; "));
    spdlog::info("reloaded by uid {}: {}", done.asker.uid, changes);
    tell_broken();
    reload_server_.answer("reloaded\n");
    record_reload(done.asker, wire::AuditOutcome::ok, changes);
  } else {
    refuse_reload(done.asker, refusal);
  }
  tell_service(stopping_ ? "" : "READY=1\n");
}

}  // namespace cellblock::daemon
