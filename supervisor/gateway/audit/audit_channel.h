#pragma once

#include <deque>
#include <memory>

#include "supervisor/gateway/conversation/conversation.h"
#include "supervisor/kernel/event_loop.h"
#include "supervisor/kernel/sys.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::gateway {

/// Records for the audit writer, sent a few at a time: 32 at once, or after 20 ms. A writer that is
/// behind slows this gateway's one user down. While the queue is full for all that, or the writer
/// is gone, nothing new may be called: until there is room again, or a fresh socket comes.
class AuditChannel {
 public:
  AuditChannel(EventLoop& loop, Fd socket);

  void add(const wire::AuditRecord& record);
  AuditState state() const {
    return broken_ || queue_.size() >= max_queued ? AuditState::broken : AuditState::writable;
  }
  /// What is still here goes to the new writer.
  void replace(Fd socket);
  void flush();

 private:
  static constexpr std::size_t batch = 32;
  static constexpr Milliseconds delay{20};
  static constexpr std::size_t max_queued = 8192;
  /// What was called before the queue was full still ends, and is recorded. Beyond this, refusals
  /// of a host that does not give up are only counted.
  static constexpr std::size_t most = 4 * max_queued;
  static constexpr Milliseconds patience{1'000};  ///< for a writer that reads nothing at all

  void send_next();
  wire::AuditRecord gap();
  void wait_for_room();
  void adopt(Fd socket);
  void break_off();

  EventLoop& loop_;
  Fd socket_;
  std::unique_ptr<Watch> watch_;
  Timer timer_;
  std::deque<wire::AuditRecord> queue_;
  std::uint64_t lost_ = 0;
  bool blocked_ = false;
  bool stalled_ = false;  ///< was waited for in vain, and has not read anything since
  bool broken_ = false;
};

}  // namespace cellblock::gateway
