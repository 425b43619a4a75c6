#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// Owns a descriptor and calls back each time there is something to read from it (or to accept, or
/// its end), until destroyed; never after. May be destroyed inside the callback. Loop's thread
/// only.
class ReadableFd {
 public:
  ReadableFd(boost::asio::io_context& loop, Fd descriptor, std::function<void()> on_readable);
  ~ReadableFd();
  ReadableFd(ReadableFd&&) = delete;
  ReadableFd& operator=(ReadableFd&&) = delete;

  int get() const;

  /// No calls from here until `resume`; what is readable then is told then.
  void pause();
  void resume();
  bool paused() const;

  /// Calls back once, when there is room to write; paused or not.
  void when_writable(std::function<void()> call);

 private:
  struct State;
  static void wait(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace cellblock::daemon
