#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policy/jsonrpc/line_splitter.h"
#include "supervisor/gateway/io/byte_io.h"
#include "supervisor/gateway/io/line_progress.h"
#include "supervisor/os/event_loop.h"

/// Lines from one stream, as fast as the receiver takes them and no faster: at most one read in a
/// turn of the loop, so that no stream starves another.
namespace cellblock::gateway {

class LineReader {
 public:
  struct Receiver {
    std::function<void(std::string_view line)> line;
    std::function<void(std::size_t seen)> too_long;
    std::function<void()> ended;  ///< once
    /// Before lines are delivered: all that was read and not delivered; nullopt: of a line that is
    /// skipped.
    std::function<void(std::optional<std::string_view> unread)> arrived = nullptr;
  };
  using Read = std::function<IoResult(std::span<char>)>;

  LineReader(Watch& watch, std::size_t max_line, Read read, Receiver receiver);

  /// Held: no line is delivered, not even one that is buffered. May be called by the receiver.
  void hold();
  /// Lines that are buffered come with the next deliver().
  void flow();

  /// Whole lines that have been read and not delivered.
  void deliver();
  /// deliver(), one read, deliver(). False if there was nothing to read.
  bool turn();

  /// No more lines; nothing is read any more.
  void stop();
  bool is_over() const { return over_; }
  /// As stop(). Returns the bytes that were read and not delivered; nullopt: they belong to a line
  /// that is too long.
  std::optional<std::string> stop_for_good();
  /// What was read and not delivered, mostly bytes of a line whose newline has not come. nullopt:
  /// the rest of a line that is too long.
  std::optional<std::string_view> unread() const { return splitter_.unread(); }
  /// Bytes that come before what is read next.
  void prefill(std::string_view bytes);

  /// Bytes of memory.
  std::size_t held() const { return splitter_.capacity(); }
  LineProgress progress() const;

  /// Discards all further input.
  void discard() { discarding_ = true; }

 private:
  void interest();
  void end();

  Watch& watch_;
  LineSplitter splitter_;
  Read read_;
  Receiver receiver_;
  bool held_ = false;
  bool over_ = false;
  bool discarding_ = false;
  bool delivering_ = false;
  std::uint64_t lines_ = 0;
  std::size_t skipped_ = 0;
  bool maybe_buffered_ = false;  ///< a hold left lines in the splitter
};

}  // namespace cellblock::gateway
