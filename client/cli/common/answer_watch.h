#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "cellblock/error.h"

namespace cellblock::cli {

/// While it lives, it looks once, after two seconds, whether the daemon answers at all: a socket of
/// the service manager's takes connections also where cellblockd cannot start. Where nothing
/// answers, a line on stderr says so; who waits goes on waiting.
class AnswerWatch {
 public:
  struct Daemon {
    std::function<bool()> answers;  ///< called on a thread of this object's
    std::string silence;            ///< what is said where it does not
    bool is_told = true;            ///< on stderr
  };

  explicit AnswerWatch(Daemon daemon);
  ~AnswerWatch();
  AnswerWatch(const AnswerWatch&) = delete;
  AnswerWatch& operator=(const AnswerWatch&) = delete;

  /// In place of `error` where nothing has answered, so that nobody is told to be more patient.
  client::Error instead_of(client::Error error) const;

 private:
  void look();

  Daemon daemon_;
  std::atomic<bool> is_silent_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread looks_;
};

}  // namespace cellblock::cli
