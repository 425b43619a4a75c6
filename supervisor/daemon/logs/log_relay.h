#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "supervisor/daemon/logs/log_lines.h"
#include "supervisor/ipc/log_wire.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// Relays the output of cellblock's own processes to the daemon's log, with the program's name.
/// Never waits for a process: a process that writes more than the relay reads in a second blocks.
/// Outlives the launcher, so that no last output is lost. One thread.
class LogRelay {
 public:
  /// `channel`: over which the launcher sends wire::LogPipe.
  explicit LogRelay(Fd channel) : channel_(std::move(channel)) {}
  /// Reads what the pipes still hold.
  ~LogRelay();
  LogRelay(LogRelay&&) = delete;
  LogRelay& operator=(LogRelay&&) = delete;

  /// Reads from inside the loop until stop_watching(). Call that before the loop is destroyed.
  void watch(boost::asio::io_context& loop);
  void stop_watching();

 private:
  static constexpr std::size_t bytes_per_second = 256U << 10;  ///< of one process

  struct Source {
    Fd pipe;
    std::string name;
    LogLines lines;
    std::unique_ptr<ReadableFd> watch{};
    std::size_t read = 0;  ///< bytes since the timer last ran
  };
  enum class Left : std::uint8_t { something, nothing, all_said };

  void receive();
  bool watch_source(std::uint64_t number, Source& source);
  void on_readable(std::uint64_t number);
  Left read_some(Source& source);
  void read_on_later();
  void read_on();

  Fd channel_;
  boost::asio::io_context* loop_ = nullptr;
  std::unique_ptr<ReadableFd> channel_watch_;
  std::optional<boost::asio::steady_timer> timer_;
  bool timer_runs_ = false;
  std::map<std::uint64_t, Source> sources_;  ///< bounded by the launcher's ids for own processes
  std::uint64_t next_ = 0;
};

}  // namespace cellblock::daemon
