#include "supervisor/daemon/helpers/supervisor_audit_queue.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "policy/audit/log_words.h"
#include "supervisor/ipc/audit_packet.h"

namespace cellblock::daemon {

SupervisorAuditQueue::SupervisorAuditQueue(boost::asio::io_context& loop, AddSource add_source)
    : loop_(loop), add_source_(std::move(add_source)) {}

void SupervisorAuditQueue::renew() {
  channel_.reset();
  sent_ = 0;
  if (const auto connected = connect(); !connected) {
    spdlog::error("what administrators do is not recorded yet: {}", connected.error().text);
  }
  send();
}

Result<void> SupervisorAuditQueue::connect() {
  Pair pair = CELLBLOCK_TRY(make_seqpacket_pair());
  CELLBLOCK_CHECK(add_source_(std::move(pair.first)));
  channel_ = std::make_unique<ReadableFd>(loop_, std::move(pair.second), [this] { hear(); });
  return {};
}

void SupervisorAuditQueue::add(wire::AuditRecord record, std::string text) {
  if (kept_.size() >= most) {
    return spdlog::error("too much waits for the audit log: a record of this is lost");
  }
  record.number = ++last_number_;
  kept_.push_back({record, std::move(text)});
  send();
}

// The socket is full: sending goes on when the writer acknowledges a record.
void SupervisorAuditQueue::send() {
  for (; channel_ && sent_ < kept_.size(); ++sent_) {
    const Kept& next = kept_[sent_];
    AuditPacket packet;
    packet.add(next.record, next.text);
    const auto sent = packet.send(channel_->get(), MSG_DONTWAIT);
    if (!sent && sent.error().number != EAGAIN) channel_.reset();
    if (!sent) return;
  }
}

void SupervisorAuditQueue::hear() {
  wire::AuditWritten written;
  const auto received = receive_record(channel_->get(), written, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return;
  if (!received || !received->fds.empty()) return channel_.reset();
  while (!kept_.empty() && kept_.front().record.number <= written.number) {
    kept_.pop_front();
    if (sent_ > 0) --sent_;
  }
  send();
}

namespace {

wire::AuditRecord told(std::string_view what, std::uint32_t by, std::int32_t pid) {
  wire::AuditRecord record;
  record.kind = wire::AuditKind::switched;
  record.outcome = wire::AuditOutcome::ok;
  record.pid = pid;
  record.tool_length = static_cast<std::uint8_t>(what.size());
  std::ranges::copy(what, record.tool.begin());
  std::ranges::copy(fmt::format("by uid {}", by), record.reason.begin());
  return record;
}

}  // namespace

wire::AuditRecord record_of(const Switched& switched) {
  wire::AuditRecord record = told(switched.which, switched.by, switched.pid);
  record.outcome = switched.outcome;
  return record;
}

wire::AuditRecord record_of(const AdminConnected& connected) {
  wire::AuditRecord record = told(audit::admin_connected, connected.by, connected.pid);
  record.session = connected.connection;
  return record;
}

std::string gateway_text(std::uint64_t gateway, std::uint32_t user) {
  return fmt::format("{}{:016x} of uid {}", audit::gateway_beginning, gateway, user);
}

}  // namespace cellblock::daemon
