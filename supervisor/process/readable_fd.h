#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// Owns a descriptor and calls back each time it is readable (data, a connection to accept, or its
/// end), until destroyed; never after. May be destroyed inside the callback. Loop's thread only.
class ReadableFd {
 public:
  ReadableFd(boost::asio::io_context& loop, Fd descriptor, std::function<void()> on_readable);
  ~ReadableFd();
  ReadableFd(ReadableFd&&) = delete;
  ReadableFd& operator=(ReadableFd&&) = delete;

  int get() const;

  /// Makes no calls until resume(), which reports what is readable by then.
  void pause();
  void resume();
  bool paused() const;

  /// Calls back once when the descriptor is writable, paused or not.
  void when_writable(std::function<void()> call);

 private:
  struct State;
  static void wait(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace cellblock::daemon
