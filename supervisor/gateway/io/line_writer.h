#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/gateway/io/byte_io.h"
#include "supervisor/os/event_loop.h"

/// Messages to one stream. Small ones of one turn of the loop are gathered, since a copy of a few
/// hundred bytes is cheaper than a system call; large ones are written from where they were read,
/// and only what the stream did not take is copied.
namespace cellblock::gateway {

enum class WriterState : std::uint8_t {
  open,
  closed,      ///< the reader has closed, or stop() was called
  overflowed,  ///< the reader is not a slow one but none
};

class LineWriter {
 public:
  using Write = std::function<IoResult(std::span<const iovec>)>;

  /// `max_queued` in bytes: beyond it the stream has overflowed. `on_progress` is called after
  /// queued bytes have gone out.
  LineWriter(Watch& watch, std::size_t max_queued, Write write, std::function<void()> on_progress);

  void write(std::span<const std::string_view> slices);
  /// At the end of a turn.
  void flush();

  std::size_t queued() const { return queue_.size() - sent_; }
  WriterState state() const { return state_; }
  /// Drops what is queued and everything that comes.
  void stop();

 private:
  static constexpr std::size_t gather_limit = 16U << 10;

  void append(std::span<const std::string_view> slices, std::size_t skip);
  void write_through(std::span<const std::string_view> slices);
  void sent(std::size_t count);
  void break_off(WriterState why);
  bool is_open() const { return state_ == WriterState::open; }
  void interest();

  Watch& watch_;
  std::size_t max_queued_;
  Write write_;
  std::function<void()> on_progress_;
  std::string queue_;
  std::size_t sent_ = 0;  // of queue_, from its front
  bool blocked_ = false;
  WriterState state_ = WriterState::open;
};

}  // namespace cellblock::gateway
