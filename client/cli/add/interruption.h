#pragma once

#include <stop_token>
#include <thread>

#include "client/connection/fd.h"

namespace cellblock::cli {

/// While it lives, Ctrl-C, SIGTERM and SIGHUP end nothing by themselves, but ask for a stop: what
/// was begun is cleared away by whoever began it. One at a time; make it before other threads.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Readable once a stop was asked for: for poll.
  int descriptor() const { return told_.get(); }

 private:
  std::stop_source stop_;
  client::OwnedFd signals_;
  client::OwnedFd told_;
  client::OwnedFd over_;  ///< an eventfd: the thread ends
  std::thread waits_;
};

}  // namespace cellblock::cli
