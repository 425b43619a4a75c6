#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "policy/config/config.h"
#include "supervisor/gateway/cell/stderr_log.h"
#include "supervisor/gateway/io/endpoint.h"
#include "supervisor/gateway/io/line_reader.h"
#include "supervisor/gateway/io/line_writer.h"

/// The pipes of one cell.
namespace cellblock::gateway {

struct CellPipes {
  static constexpr std::size_t count = 3;

  Fd input;   ///< we write
  Fd output;  ///< we read
  Fd errors;  ///< we read
};

class CellLink {
 public:
  struct Receiver {
    std::function<void(std::string_view line)> line;
    std::function<void(std::size_t seen)> too_long;
    std::function<void()> output_closed;
    std::function<void()> turn_done;
    StderrCollector::Clean clean;  ///< of what it writes on stderr
  };

  /// Nothing of it is read before begin_output(): what a cell says that nobody uses may cost
  /// nothing.
  CellLink(EventLoop& loop, CellPipes pipes, const Server& server, std::uint64_t cell,
           StderrRing& ring, Receiver receiver);

  void begin_output();
  void to_cell(std::span<const std::string_view> slices);
  void close_input();
  void flush() { writer_.flush(); }
  /// Half of the bound is for one more line on top, the rest for what the gateway itself says.
  bool has_room(std::size_t bytes) const { return queued() + bytes <= room_; }
  std::size_t queued() const { return writer_.queued(); }
  /// Whether it can still be told anything. Its input being closed by us is no fault of its.
  WriterState input_state() const { return closing_input_ ? WriterState::open : writer_.state(); }

  /// Of its output, what follows the last newline.
  std::string_view unfinished() const { return reader_.unread().value_or(std::string_view{}); }

  /// Nobody can write to its output any more, whatever is still in it.
  bool has_hung_up() const;

  void set_paused(bool paused);  ///< the host does not take what this cell sends

  /// Its processes are gone: hands in what they left in the pipe. False while the host does not
  /// take it; then it is to be called again.
  bool drain_output();
  void drain_errors();

 private:
  bool read_errors();
  void apply_flow();

  Receiver receiver_;
  Endpoint input_;
  Endpoint output_;
  Endpoint errors_;
  LineWriter writer_;
  LineReader reader_;
  const std::size_t room_;
  StderrCollector collector_;
  bool begun_ = false;
  bool paused_ = false;
  bool closing_input_ = false;
};

}  // namespace cellblock::gateway
