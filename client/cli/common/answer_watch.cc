#include "client/cli/common/answer_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace cellblock::cli {
namespace {

constexpr std::chrono::seconds unremarkable_wait{2};

}  // namespace

AnswerWatch::AnswerWatch(Daemon daemon) : daemon_(std::move(daemon)), looks_([this] { look(); }) {}

AnswerWatch::~AnswerWatch() {
  {
    const std::scoped_lock hold(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  looks_.join();
}

void AnswerWatch::look() {
  {
    std::unique_lock hold(mutex_);
    if (changed_.wait_for(hold, unremarkable_wait, [this] { return is_over_; })) return;
  }
  if (daemon_.answers()) return;
  is_silent_ = true;
  if (!daemon_.is_told) return;
  fmt::print(stderr, "cellblock: {}\n", daemon_.silence);
  static_cast<void>(std::fflush(stderr));
}

client::Error AnswerWatch::instead_of(client::Error error) const {
  if (error.code != client::ErrorCode::timed_out || !is_silent_) return error;
  return {.code = client::ErrorCode::unreachable, .text = daemon_.silence};
}

}  // namespace cellblock::cli
