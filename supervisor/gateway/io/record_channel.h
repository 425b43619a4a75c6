#pragma once

#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

/// Fixed-size records over one SOCK_SEQPACKET, both ways, without ever blocking.
namespace cellblock::gateway {

enum class SendStatus : std::uint8_t {
  ok,          ///< sent or queued
  closed,      ///< by the other side
  overflowed,  ///< the queue is full
};

/// Whether the error says that the channel has ended, and not that a record was bad.
inline bool is_end_of_channel(const SysError& error) {
  return error.number == EPIPE || error.number == ECONNRESET;
}

/// Fixed-size records to a SOCK_SEQPACKET, in order, without ever blocking. Bounded: a peer of ours
/// that lets this many pile up is not working. A descriptor is ours until its record was sent.
template <class Record>
class RecordSender {
 public:
  static constexpr std::size_t max_queued = 4096;

  RecordSender(Watch& watch, int socket) : watch_(watch), socket_(socket) {
    watch_.on_writable = [this] { flush(); };
  }

  SendStatus send(const Record& record, Fd attached = Fd{}) {
    if (broken_) return SendStatus::closed;
    if (queue_.size() == max_queued) return SendStatus::overflowed;
    queue_.push_back({record, std::move(attached)});
    flush();
    return broken_ ? SendStatus::closed : SendStatus::ok;
  }

 private:
  struct Entry {
    Record record;
    Fd attached;
  };

  SysResult<void> send(const Entry& entry) const {
    const int number = entry.attached.get();
    const std::span<const int> fds(&number, entry.attached.valid() ? 1 : 0);
    return send_record(socket_, entry.record, fds, MSG_DONTWAIT);
  }

  void flush() {
    while (!queue_.empty() && !broken_) {
      const auto done = send(queue_.front());
      if (!done && done.error().number == EAGAIN) break;
      if (!done) broken_ = true;
      queue_.pop_front();
    }
    if (!watch_.want_write(!queue_.empty() && !broken_)) broken_ = true;
  }

  Watch& watch_;
  int socket_;
  std::deque<Entry> queue_;
  bool broken_ = false;
};

/// Fixed-size records from a SOCK_SEQPACKET, one a turn, until its end. Owns the socket; what is
/// sent on it goes through a RecordSender on the same watch.
template <class Record>
class RecordReader {
 public:
  struct Receiver {
    /// Without those that it came with, where no descriptor is free.
    std::function<void(const Record&, std::vector<Fd>)> record;
    std::function<void()> closed;                      ///< once
    std::function<void(std::string_view why)> broken;  ///< what came is no record
  };

  RecordReader(EventLoop& loop, Fd socket, Receiver receiver)
      : socket_(std::move(socket)), watch_(loop, socket_.get()), receiver_(std::move(receiver)) {
    watch_.on_readable = [this] { readable(); };
    if (!watch_.want_read(true)) receiver_.broken("has a socket that epoll does not take");
  }

  Watch& watch() { return watch_; }
  int socket() const { return socket_.get(); }

  /// Says `closed`, if that has not been said: its end stays readable for ever.
  void end() {
    if (std::exchange(ended_, true)) return;
    watch_.forget();
    receiver_.closed();
  }
  bool has_ended() const { return ended_; }

  /// Without a word.
  void stop() {
    ended_ = true;
    watch_.forget();
  }

 private:
  void readable() {
    Record record{};
    auto received = receive_record(socket_.get(), record, MSG_DONTWAIT);
    if (!received && received.error().number == EAGAIN) return;
    if (!received && is_end_of_channel(received.error())) return end();
    if (!received && received.error().number == EMFILE) return receiver_.record(record, {});
    if (!received) return receiver_.broken("sent no record: " + received.error().text());
    receiver_.record(record, std::move(received->fds));
  }

  Fd socket_;
  Watch watch_;
  Receiver receiver_;
  bool ended_ = false;
};

}  // namespace cellblock::gateway
