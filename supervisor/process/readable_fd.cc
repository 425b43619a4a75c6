#include "supervisor/process/readable_fd.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <utility>

namespace cellblock::daemon {

namespace asio = boost::asio;

// Outlives the watch for as long as a wait is under way or a callback runs.
struct ReadableFd::State {
  asio::posix::stream_descriptor descriptor;
  std::function<void()> on_readable;
  bool stopped = false;
  bool paused = false;
  bool waiting = false;  ///< at most one wait is under way
};

ReadableFd::ReadableFd(asio::io_context& loop, Fd descriptor, std::function<void()> on_readable)
    : state_(std::make_shared<State>(asio::posix::stream_descriptor(loop, descriptor.release()),
                                     std::move(on_readable))) {
  wait(state_);
}

ReadableFd::~ReadableFd() {
  // A wait that has already succeeded may still be queued: `stopped` disarms it.
  state_->stopped = true;
  boost::system::error_code ignored;
  state_->descriptor.close(ignored);
}

int ReadableFd::get() const { return state_->descriptor.native_handle(); }

void ReadableFd::pause() { state_->paused = true; }

void ReadableFd::resume() {
  state_->paused = false;
  if (!state_->waiting) wait(state_);
}

void ReadableFd::when_writable(std::function<void()> call) {
  state_->descriptor.async_wait(
      asio::posix::stream_descriptor::wait_write,
      [state = state_, call = std::move(call)](const boost::system::error_code& error) {
        if (!error && !state->stopped) call();
      });
}

bool ReadableFd::paused() const { return state_->paused; }

void ReadableFd::wait(std::shared_ptr<State> state) {
  state->waiting = true;
  auto& descriptor = state->descriptor;
  descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                        [state = std::move(state)](const boost::system::error_code& error) {
                          if (error || state->stopped) return;
                          state->waiting = false;
                          if (state->paused) return;
                          state->on_readable();
                          if (!state->stopped && !state->paused && !state->waiting) wait(state);
                        });
}

}  // namespace cellblock::daemon
