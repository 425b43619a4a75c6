#pragma once

#include <deque>
#include <utility>

#include "supervisor/gateway/event_loop.h"
#include "supervisor/kernel/sys.h"

namespace cellblock::gateway {

/// Fixed-size records to a SOCK_SEQPACKET, in order, without ever blocking. Bounded: a peer of ours
/// that lets this many pile up is not working.
template <class Record>
class RecordSender {
 public:
  static constexpr std::size_t max_queued = 4096;

  RecordSender(Watch& watch, int socket) : watch_(watch), socket_(socket) {
    watch_.on_writable = [this] { flush(); };
  }

  /// False when the socket is broken or the queue is full.
  bool send(const Record& record) {
    if (broken_ || queue_.size() == max_queued) return false;
    queue_.push_back(record);
    flush();
    return !broken_;
  }

 private:
  void flush() {
    while (!queue_.empty() && !broken_) {
      const auto done = send_record(socket_, queue_.front(), {}, MSG_DONTWAIT);
      if (!done && done.error().number == EAGAIN) break;
      if (!done) broken_ = true;
      queue_.pop_front();
    }
    if (!watch_.want_write(!queue_.empty() && !broken_)) broken_ = true;
  }

  Watch& watch_;
  int socket_;
  std::deque<Record> queue_;
  bool broken_ = false;
};

}  // namespace cellblock::gateway
