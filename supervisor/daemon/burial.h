#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "supervisor/daemon/read_watch.h"

/// Where accepted connections end. Any local user may queue a descriptor in his connection whose
/// last close blocks (a TCP socket with SO_LINGER and unsent data: as many seconds as he likes).
/// Whoever drops the connection's last copy purges its queue, so the supervisor never does:
/// children that may block take the last copies with them, many at a time. See docs/decisions/0010.
namespace cellblock::daemon {

class Burial {
 public:
  /// Needs SIGCHLD blocked (adopt_children). `on_room`: there is room again.
  static Result<std::unique_ptr<Burial>> make(boost::asio::io_context& loop,
                                              std::function<void()> on_room);
  /// What could not be buried stays open until the process exits, which does not linger either.
  ~Burial();
  Burial(Burial&&) = delete;
  Burial& operator=(Burial&&) = delete;

  /// Closed soon: with the next 16, or after 50 ms.
  void add(Fd connection);

  /// False while too many children are alive: whoever goes on accepting then lets a flood grow.
  bool has_room() const;

 private:
  Burial(boost::asio::io_context& loop, Fd child_ends, Pair line, std::function<void()> on_room);
  void bury_if_possible();
  void bury_and_tell();
  Result<void> bury();
  void bury_later();
  void reap();

  std::function<void()> on_room_;
  std::vector<Fd> dead_;
  std::vector<pid_t> children_;
  Pair line_;  ///< for the next child
  boost::asio::steady_timer timer_;
  ReadWatch child_ends_;
  bool timer_runs_ = false;
  bool failure_said_ = false;  ///< since the last success
};

}  // namespace cellblock::daemon
