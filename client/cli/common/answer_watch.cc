#include "client/cli/common/answer_watch.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <utility>

#include "client/cli/terminal/terminal_text.h"
#include "client/connection/default_socket.h"
#include "policy/mcp/control_methods.h"

namespace cellblock::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto patience = 2s;
constexpr auto longest_answer = 2s;

// What every gateway answers at once, whatever its servers do.
bool answers(const Context& context) {
  auto connection = open(context);
  if (!connection) return true;  // whoever waits hears of it himself
  const auto status =
      connection->request(control_method::status, "{}", {.timeout = longest_answer, .stop = {}});
  return status.has_value() || status.error().code != client::ErrorCode::timed_out;
}

std::string silence_of(const Context& context) {
  const auto own = client::user_socket_path();
  return fmt::format(
      "cellblockd does not answer at {}: it may have failed to start, and \"systemctl{} status "
      "cellblock\" says why",
      safe_line(context.socket), !own.empty() && context.socket == own ? " --user" : "");
}

}  // namespace

AnswerWatch::AnswerWatch(const Context& context) : context_(context), looks_([this] { look(); }) {}

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
    if (changed_.wait_for(hold, patience, [this] { return is_over_; })) return;
  }
  if (answers(context_)) return;
  is_silent_ = true;
  if (context_.output != Output::human) return;
  fmt::print(stderr, "cellblock: {}\n", silence_of(context_));
  static_cast<void>(std::fflush(stderr));
}

client::Error AnswerWatch::instead_of(client::Error error) const {
  if (error.code != client::ErrorCode::timed_out || !is_silent_) return error;
  return {.code = client::ErrorCode::unreachable, .text = silence_of(context_)};
}

}  // namespace cellblock::cli
