#include "supervisor/daemon/admins/refusal_recorder.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>

namespace cellblock::daemon {
namespace {

// The most records that an honest cellblock-http sends in a minute: a few for each counted address,
// and a sum.
constexpr std::uint32_t most_wrong_tokens =
    RefusedAttempts::most_known * (RefusedAttempts::recorded_each + 1) + 1;

}  // namespace

void RefusalRecorder::record(const Peer& peer, std::string_view which, const std::string& whose) {
  // One user may have many ids, so users that no list names share one place.
  const bool is_named = may_connect(peer, config_);
  if (!attempts_.add(is_named ? fmt::format("uid {}", peer.uid) : "users whom no list names"))
    return;
  spdlog::warn("refused an attempt of uid {} (pid {}) at administrators' socket \"{}\"{}", peer.uid,
               peer.pid, which, whose.empty() ? "" : ": " + whose);
  audit_queue_.add(
      record_of(Switched{
          .which = which, .by = peer.uid, .pid = peer.pid, .outcome = wire::AuditOutcome::denied}),
      whose);
}

void RefusalRecorder::record_wrong_token(const std::string& from, std::uint32_t requests) {
  // While there is no writer, these records must not displace those of administrators.
  const bool has_room = audit_queue_.kept() < SupervisorAuditQueue::most / 2;
  if (++wrong_tokens_ > most_wrong_tokens || !has_room) return;
  wire::AuditRecord record = record_of(Switched{
      .which = "http_token", .by = ::getuid(), .pid = 0, .outcome = wire::AuditOutcome::denied});
  record.reason = {};
  std::ranges::copy(std::string_view("unknown_token"), record.reason.begin());
  record.count = requests;
  audit_queue_.add(record, "from " + from);
}

void RefusalRecorder::sweep() {
  wrong_tokens_ = 0;
  const auto span = attempts_.end_span();
  for (const auto& [who, count] : span.left_out) {
    spdlog::warn("refused {} more attempts of {} at administrators' sockets", count, who);
  }
  if (span.of_others > 0) {
    spdlog::warn("refused {} attempts of other users at administrators' sockets", span.of_others);
  }
}

}  // namespace cellblock::daemon
