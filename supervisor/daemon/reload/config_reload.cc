#include "supervisor/daemon/reload/config_reload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "policy/config/config_bytes.h"
#include "policy/reload/difference.h"
#include "policy/reload/places.h"
#include "supervisor/daemon/status/reload_refusal.h"
#include "supervisor/ipc/sealed_config.h"

namespace cellblock::daemon {

ConfigReload::ConfigReload(boost::asio::io_context& loop, const Parts& parts, ReloadFacts facts,
                           Fd program, Around around)
    : config_(parts.config),
      launcher_(parts.launcher),
      audit_queue_(parts.audit_queue),
      service_(parts.service),
      facts_(std::move(facts)),
      around_(std::move(around)),
      server_(loop, {.offer = std::bind_front(&ConfigReload::offer, this),
                     .asked = std::bind_front(&ConfigReload::on_asked, this),
                     .close_later = around_.close_later}),
      child_(loop, std::move(program), [this] { on_child_ended(); }) {}

// --- the asker ----------------------------------------------------------------------------------

void ConfigReload::add(const Peer& peer, Fd socket) {
  server_.add({.uid = peer.uid, .pid = peer.pid}, std::move(socket));
}

Result<ReloadMessage> ConfigReload::offer() const {
  if (reload_) return fail("another reload is not done yet");
  Fd config = CELLBLOCK_TRY(make_sealed("cellblock-config", encode(config_)));
  return ReloadMessage{std::move(config), CELLBLOCK_TRY(seal(facts_))};
}

void ConfigReload::on_signal() {
  if (stopping_) return;
  // The running child may have read the files before their last change.
  if (child_.runs()) {
    again_ = true;
    return spdlog::info("another reload follows the one that is under way");
  }
  const auto started = start_child();
  if (!started) spdlog::error("cannot reload: {}", started.error().text);
}

Result<void> ConfigReload::start_child() {
  Fd socket = CELLBLOCK_TRY(child_.start(facts_));
  server_.add({.uid = ::getuid(), .pid = ::getpid()}, std::move(socket));
  return {};
}

void ConfigReload::on_child_ended() {
  if (std::exchange(again_, false)) on_signal();
}

void ConfigReload::stop() {
  stopping_ = true;
  server_.close();
  child_.end();
}

// --- the reload ---------------------------------------------------------------------------------

void ConfigReload::on_asked(const ReloadServer::Asker& asker, ReloadRequest request) {
  const auto begun = begin(asker, std::move(request));
  if (!begun) refuse(asker, begun.error().text);
}

Result<void> ConfigReload::begin(const ReloadServer::Asker& asker, ReloadRequest request) {
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
  service_.reloading();
  return {};
}

bool ConfigReload::launcher_answered(const wire::LauncherReport& report) {
  if (!reload_) return false;
  if (report.kind == wire::LauncherReportKind::reloaded) {
    around_.use(std::move(reload_->config), std::move(reload_->declared), reload_->sealed);
    end("");
  } else {
    end(explain_not_reloaded(report, reload_->config));
  }
  return true;
}

void ConfigReload::end(const std::string& refusal) {
  const Reload done = *std::exchange(reload_, std::nullopt);
  if (refusal.empty()) {
    const std::string changes = done.changes.empty()
                                    ? "nothing has changed"
                                    : fmt::format("{}", fmt::join(done.changes, "; "));
    spdlog::info("reloaded by uid {}: {}", done.asker.uid, changes);
    service_.tell_broken();
    server_.answer("reloaded\n");
    record(done.asker, wire::AuditOutcome::ok, changes);
  } else {
    refuse(done.asker, refusal);
  }
  service_.ready();
}

void ConfigReload::refuse(const ReloadServer::Asker& asker, const std::string& why) {
  spdlog::error("the new configuration of uid {} is not used: {}", asker.uid, why);
  server_.answer("refused\n" + why + "\n");
  record(asker, wire::AuditOutcome::error, why);
}

void ConfigReload::record(const ReloadServer::Asker& asker, wire::AuditOutcome outcome,
                          const std::string& text) {
  audit_queue_.add(
      record_of({.which = "reload", .by = asker.uid, .pid = asker.pid, .outcome = outcome}),
      text.substr(0, wire::max_audit_text));
}

}  // namespace cellblock::daemon
