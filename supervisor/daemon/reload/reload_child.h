#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "policy/base/result.h"
#include "supervisor/handover/reload_protocol.h"
#include "supervisor/os/sys.h"
#include "supervisor/process/readable_fd.h"

namespace cellblock::daemon {

/// The child that SIGHUP starts: `cellblockd --reload`, which reads the files with the rights that
/// this process has kept. One at a time. One thread.
class ReloadChild {
 public:
  /// `program`: cellblockd. `ended`: the child has ended by itself.
  ReloadChild(boost::asio::io_context& loop, Fd program, std::function<void()> ended)
      : loop_(loop), program_(std::move(program)), ended_(std::move(ended)) {}
  ReloadChild(ReloadChild&&) = delete;
  ReloadChild& operator=(ReloadChild&&) = delete;

  bool runs() const { return pid_ >= 0; }
  /// Returns the socket over which the child asks for the reload.
  Result<Fd> start(const ReloadFacts& facts);
  /// Kills the child, if one runs.
  void end();

 private:
  void on_death();

  boost::asio::io_context& loop_;
  Fd program_;
  std::function<void()> ended_;
  pid_t pid_ = -1;
  std::unique_ptr<ReadableFd> death_;  ///< watches its pidfd
};

}  // namespace cellblock::daemon
