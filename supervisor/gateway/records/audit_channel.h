#pragma once

#include <boost/container/deque.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "policy/config/config.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/gateway/records/audit_health.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::gateway {

/// Sends numbered records to the audit writer: 32 at once, after 20 ms, or at the end of a turn in
/// which a caller waits for them. Each record is kept until the writer confirms that it is in the
/// log, and is sent again to the next writer otherwise. A slow writer slows down this gateway's one
/// user. While too much is kept, or the writer is gone or stuck, nothing new may be
/// called until there is room again, or a new socket comes.
class AuditChannel {
 public:
  /// The callback of a waiter. `broken`: the record is not in the log, and it is not known when it
  /// will be.
  using Then = std::function<void(AuditState)>;

  AuditChannel(EventLoop& loop, Fd socket, AuditFailure on_failure);

  /// `text`: what follows it, at most wire::max_audit_text.
  void add(const wire::AuditRecord& record, std::string text = {});
  /// Called once, when all that was added before is in the log, or the writer is gone or stuck;
  /// never from within this call or add().
  void when_written(Then then);
  AuditState state() const;
  /// For what is added from now on.
  void set_on_failure(AuditFailure on_failure) { on_failure_ = on_failure; }
  AuditHealth health() const;
  /// What is still here goes to the new writer.
  void replace(Fd socket);
  void flush();

 private:
  static constexpr std::size_t batch = 32;
  static constexpr Milliseconds delay{20};
  static constexpr std::size_t max_kept = 8192;
  /// What was called before that many were kept still ends, and is recorded. Beyond this, refusals
  /// of a host that does not give up are only counted.
  static constexpr std::size_t most = 4 * max_kept;
  /// Bound of the kept texts in bytes; beyond it a record is sent without its text.
  static constexpr std::size_t max_kept_text = 8U << 20;
  static constexpr std::size_t most_text = 2 * max_kept_text;
  static constexpr Milliseconds patience{1'000};      ///< for a writer that reads nothing at all
  static constexpr Milliseconds longest_wait{5'000};  ///< for one that writes nothing

  struct Kept {
    wire::AuditRecord record;
    std::string text;
  };
  /// A record alone is larger than a block of std::deque.
  using KeptRecords = boost::container::deque<
      Kept, void, boost::container::deque_options_t<boost::container::block_size<batch>>>;
  struct Waiter {
    std::uint64_t number = 0;  ///< the last record that it waits for
    Then then;
  };

  void keep(const wire::AuditRecord& record, std::string text);
  void send_some();
  wire::AuditRecord gap();
  void wait_for_room();
  void adopt(Fd socket);
  void break_off();
  void raise_alarm() const;
  void hear();
  void forget_written(const wire::AuditWritten& written);
  void serve_waiters();
  void fail_waiters();
  void serve_soon();

  EventLoop& loop_;
  AuditFailure on_failure_;
  Fd socket_;
  std::unique_ptr<Watch> watch_;
  Timer timer_;
  Timer stuck_timer_;
  KeptRecords kept_;           ///< not known to be in the log
  std::size_t kept_text_ = 0;  ///< bytes
  std::size_t sent_ = 0;       ///< so many of them, from the front, have been sent
  std::uint64_t last_number_ = 0;
  std::uint64_t written_ = 0;
  audit::ChainPoint last_line_;
  std::deque<Waiter> waiters_;
  std::uint64_t lost_ = 0;
  bool blocked_ = false;
  bool stalled_ = false;  ///< was waited for in vain, and has not read anything since
  bool stuck_ = false;    ///< likewise, and has not written anything since
  bool broken_ = false;
  bool flush_comes_ = false;
  bool serving_comes_ = false;
};

}  // namespace cellblock::gateway
