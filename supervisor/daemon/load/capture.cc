#include "supervisor/daemon/load/capture.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include "policy/base/units.h"
#include "supervisor/daemon/load/child_processes.h"
#include "supervisor/daemon/load/spawn.h"
#include "supervisor/daemon/load/wipe.h"

namespace cellblock::daemon {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t most_errors = 4096;
constexpr milliseconds time_to_die{10'000};

/// What comes after the most that is kept.
enum class Rest : std::uint8_t {
  left,
  discarded,  ///< read, so that nobody waits for it to be
};

/// What was read of a pipe: never more than `most`, in one allocation.
class Intake {
 public:
  Intake(Fd pipe, std::size_t most, Rest rest)
      : pipe_(std::move(pipe)), text_(most, '\0'), rest_(rest) {}
  ~Intake() { wipe(text_); }
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  int descriptor() const { return pipe_.get(); }
  bool is_full() const { return size_ == text_.size(); }
  std::string take() const { return secret_text({text_.data(), size_}); }

  /// Reads what is there, as far as it is kept, and closes the pipe once nobody writes any more.
  void read() {
    while (pipe_.valid() && !is_full()) {
      const ssize_t count = ::read(pipe_.get(), text_.data() + size_, text_.size() - size_);
      if (count > 0) {
        size_ += static_cast<std::size_t>(count);
      } else if (count == 0 || errno != EINTR) {
        return end(count);
      }
    }
    if (pipe_.valid() && rest_ == Rest::discarded) discard();
  }

 private:
  void end(ssize_t count) {
    if (count == 0 || errno != EAGAIN) pipe_.reset();
  }

  // Once: who writes without end shall not hold us here.
  void discard() {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::read(pipe_.get(), bytes.data(), bytes.size());
    if (count <= 0) end(count);
    ::explicit_bzero(bytes.data(), bytes.size());
  }

  Fd pipe_;
  std::string text_;
  std::size_t size_ = 0;
  Rest rest_;
};

enum class Stop : std::uint8_t { ended, too_late, too_much };

class Run {
 public:
  Run(CapturedChild child, const CaptureBounds& bounds)
      : bounds_(bounds),
        deadline_(Clock::now() + bounds.timeout),
        child_(std::move(child)),
        output_(std::move(child_.output), bounds.most_output + 1, Rest::left),
        errors_(std::move(child_.errors), most_errors, Rest::discarded) {}

  SysResult<Stop> wait() {
    while (true) {
      const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
      if (left <= milliseconds{0}) return Stop::too_late;
      std::array<pollfd, 3> watched{{{output_.descriptor(), POLLIN, 0},
                                     {errors_.descriptor(), POLLIN, 0},
                                     {child_.pidfd.get(), POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), static_cast<int>(left.count())) < 0) {
        if (errno == EINTR) continue;
        return sys_fail("poll");
      }
      read();
      if (output_.is_full()) return Stop::too_much;
      if (watched[2].revents != 0) return Stop::ended;
    }
  }

  /// The status of its own end, or of ours. Its group is there until it is reaped.
  int end() {
    ::kill(-child_.pid, SIGKILL);
    int status = 0;
    while (::waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  /// What was still on its way; after everybody's end.
  void read() {
    output_.read();
    errors_.read();
  }

  Captured take(Stop stop, int status) const {
    return {output_.take(), errors_.take(), problem(stop, status)};
  }

 private:
  std::string problem(Stop stop, int status) const {
    if (stop == Stop::too_late) return "did not end within " + duration_text(bounds_.timeout);
    if (output_.is_full()) return "printed more than " + size_text(bounds_.most_output);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return explain_status(status);
  }

  const CaptureBounds& bounds_;
  Clock::time_point deadline_;
  CapturedChild child_;
  Intake output_;
  Intake errors_;
};

}  // namespace

Result<Captured> capture(const ChildRequest& request, const CaptureBounds& bounds) {
  const std::vector<pid_t> others = CELLBLOCK_TRY(own_children());
  auto child = start_captured(request);
  if (!child) return fail("cannot be started: " + child.error().text());
  Run run(std::move(*child), bounds);
  const auto stop = run.wait();
  const int status = run.end();
  CELLBLOCK_CHECK(kill_children_except(others, time_to_die));
  if (!stop) return std::unexpected(stop.error());
  run.read();
  return run.take(*stop, status);
}

}  // namespace cellblock::daemon
