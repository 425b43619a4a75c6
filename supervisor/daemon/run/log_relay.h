#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "supervisor/daemon/process/readable_fd.h"
#include "supervisor/daemon/run/log_lines.h"
#include "supervisor/ipc/log_wire.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// Reads what cellblock's own processes in cells say, and says it in the daemon's log with who it
/// was. Never waits for one of them: who says more than is read in a second waits itself. Outlives
/// the launcher, so that the last words of all are heard. One thread.
class LogRelay {
 public:
  /// `channel`: what the launcher sends wire::LogPipe over.
  explicit LogRelay(Fd channel) : channel_(std::move(channel)) {}
  /// Reads what is there and no more.
  ~LogRelay();
  LogRelay(LogRelay&&) = delete;
  LogRelay& operator=(LogRelay&&) = delete;

  /// Reads whenever there is something, until stop_watching(), which comes before the loop's end.
  void watch(boost::asio::io_context& loop);
  void stop_watching();

 private:
  static constexpr std::size_t bytes_per_second = 256U << 10;  ///< of one process

  struct Source {
    Fd pipe;
    std::string name;
    LogLines lines;
    std::unique_ptr<ReadableFd> watch{};
    std::size_t read = 0;  ///< since the timer ran last
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
