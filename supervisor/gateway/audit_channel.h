#pragma once

#include <deque>
#include <memory>

#include "supervisor/gateway/conversation.h"
#include "supervisor/gateway/event_loop.h"
#include "supervisor/kernel/sys.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::gateway {

/// Records for the audit writer, sent a few at a time: 32 at once, or after 20 ms. A writer that is
/// behind slows this gateway's one user down, until it has caught up. Broken (the writer is gone,
/// or stands still): nothing new may be called until a fresh socket comes.
class AuditChannel {
 public:
  AuditChannel(EventLoop& loop, Fd socket);

  void add(const wire::AuditRecord& record);
  AuditState state() const { return broken_ ? AuditState::broken : AuditState::writable; }
  /// What is still here goes to the new writer.
  void replace(Fd socket);
  void flush();

 private:
  static constexpr std::size_t batch = 32;
  static constexpr Milliseconds delay{20};
  static constexpr std::size_t max_queued = 8192;
  static constexpr Milliseconds patience{1'000};  ///< for a writer that reads nothing at all

  void send_batch();
  void wait_for_room();
  void adopt(Fd socket);
  void break_off();

  EventLoop& loop_;
  Fd socket_;
  std::unique_ptr<Watch> watch_;
  Timer timer_;
  std::deque<wire::AuditRecord> queue_;
  bool blocked_ = false;
  bool broken_ = false;
};

}  // namespace cellblock::gateway
