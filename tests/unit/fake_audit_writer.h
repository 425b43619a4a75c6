#pragma once

#include <sys/socket.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "supervisor/ipc/audit_packet.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/sys.h"

namespace cellblock::gateway::testing {

/// Says of every record at once that it is written. Its end is the writer's.
class FakeAuditWriter {
 public:
  explicit FakeAuditWriter(Fd socket) : socket_(std::move(socket)), thread_([this] { run(); }) {}
  FakeAuditWriter(const FakeAuditWriter&) = delete;
  FakeAuditWriter& operator=(const FakeAuditWriter&) = delete;
  ~FakeAuditWriter() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }

  /// Waits for it.
  wire::AuditRecord first_record() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return first_.has_value(); });
    return *first_;
  }

 private:
  void run() {
    while (const auto received = receive_audit(socket_.get())) {
      for (const AuditMessage& message : *received) keep(message.record);
      const wire::AuditWritten written{received->back().record.number};
      if (!send_record(socket_.get(), written)) return;
    }
  }

  void keep(const wire::AuditRecord& record) {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = record;
    changed_.notify_all();
  }

  const Fd socket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<wire::AuditRecord> first_;
  std::thread thread_;
};

}  // namespace cellblock::gateway::testing
