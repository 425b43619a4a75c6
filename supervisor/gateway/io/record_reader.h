#pragma once

#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/io/record_sender.h"
#include "supervisor/os/event_loop.h"
#include "supervisor/os/sys.h"

namespace cellblock::gateway {

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
