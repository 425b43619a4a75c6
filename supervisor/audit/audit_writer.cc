#include "supervisor/audit/audit_writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace cellblock::audit {
namespace {

SysResult<void> wait_for_any(std::vector<pollfd>& watched) {
  int count = -1;
  do {
    count = ::poll(watched.data(), watched.size(), -1);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return sys_fail("poll");
  return {};
}

}  // namespace

AuditWriter::AuditWriter(Fd control, Fd log, std::string boot)
    : control_(std::move(control)), log_(std::move(log)), boot_(std::move(boot)) {}

Result<void> AuditWriter::run() {
  while (CELLBLOCK_TRY(serve_once()) == Supervisor::present) forget_closed();
  return drain();
}

// A few records from each, so that a gateway that writes without end cannot keep the others
// waiting.
Result<AuditWriter::Supervisor> AuditWriter::serve_once() {
  std::vector<pollfd> watched{{control_.get(), POLLIN, 0}};
  for (const Source& source : sources_) watched.push_back({source.socket.get(), POLLIN, 0});
  CELLBLOCK_CHECK(wait_for_any(watched));
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (watched[i + 1].revents != 0) CELLBLOCK_CHECK(read_some(sources_[i]));
  }
  if (watched[0].revents == 0) return Supervisor::present;
  return read_control();
}

Result<AuditWriter::Supervisor> AuditWriter::read_control() {
  wire::AuditSource source;
  auto received = receive_record(control_.get(), source, MSG_DONTWAIT);
  if (!received && received.error().number == EPIPE) return Supervisor::gone;
  if (!received) return std::unexpected(Error(received.error()));
  if (received->fds.size() != 1) return fail("a source without its socket");
  // One too many is closed again: its gateway sees that and refuses calls.
  if (sources_.size() < max_sources) {
    sources_.push_back({source.uid, std::move(received->fds.front())});
  }
  return Supervisor::present;
}

// Bounded by what the sockets hold, since every gateway is gone when the supervisor lets us go.
Result<void> AuditWriter::drain() {
  for (Source& source : sources_) {
    while (CELLBLOCK_TRY(read_some(source))) {
    }
  }
  return {};
}

Result<bool> AuditWriter::read_some(Source& source) {
  std::string lines;
  for (std::size_t count = 0; count < batch && read_record(source, lines); ++count) {
  }
  if (lines.empty()) return false;
  CELLBLOCK_CHECK(append(lines));
  return true;
}

bool AuditWriter::read_record(Source& source, std::string& lines) {
  if (!source.socket.valid()) return false;
  wire::AuditRecord record;
  const auto received = receive_record(source.socket.get(), record, MSG_DONTWAIT);
  if (!received && received.error().number == EAGAIN) return false;
  if (!received || !received->fds.empty()) {
    source.socket.reset();
    return false;
  }
  const Stamp stamp{boot_, sequence_ + 1, std::chrono::system_clock::now(), source.uid};
  const auto line = audit_line(record, stamp);
  if (!line) {
    source.socket.reset();
    return false;
  }
  ++sequence_;
  lines += *line;
  return true;
}

// In one call: the lines are in the log whole or this writer is at its end.
Result<void> AuditWriter::append(const std::string& lines) const {
  ssize_t written = -1;
  do {
    written = ::write(log_.get(), lines.data(), lines.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) return sys_fail("write");
  if (static_cast<std::size_t>(written) != lines.size()) return fail("the audit log is full");
  return {};
}

void AuditWriter::forget_closed() {
  std::erase_if(sources_, [](const Source& source) { return !source.socket.valid(); });
}

}  // namespace cellblock::audit
