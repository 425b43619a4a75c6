#include "client/cli/ui/command_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "client/cli/programs/program_start.h"
#include "client/connection/fd.h"

namespace cellblock::cli::ui {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t most_output = 8U << 20;
constexpr std::size_t most_errors = 64U << 10;
constexpr Milliseconds longest_run{30'000};
constexpr Milliseconds beat{10'000};
constexpr int of_signals = 128;

struct Pipe {
  client::OwnedFd reading;
  client::OwnedFd writing;
};

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {client::OwnedFd(ends[0]), client::OwnedFd(ends[1])};
}

/// A child with its two outputs. Killed when this is destroyed before it has ended.
class Child {
 public:
  explicit Child(const std::vector<std::string>& words) {
    auto output = make_pipe();
    auto errors = make_pipe();
    const auto process = start_program({.words = words,
                                        .output = output.writing.get(),
                                        .errors = errors.writing.get(),
                                        .has_own_group = true});
    if (!process) {
      end_.exit = of_signals - 1;
      end_.err = process.error().text;
      return;
    }
    process_ = *process;
    output_ = std::move(output.reading);
    errors_ = std::move(errors.reading);
  }
  ~Child() { reap(SIGKILL); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool is_open() const { return output_.valid() || errors_.valid(); }

  /// Waits for more. False: `reader` has closed.
  bool wait(int reader, Milliseconds longest) {
    std::array<pollfd, 3> sources{pollfd{output_.get(), POLLIN, 0},
                                  pollfd{errors_.get(), POLLIN, 0}, pollfd{reader, POLLRDHUP, 0}};
    if (::poll(sources.data(), sources.size(), static_cast<int>(longest.count())) < 0) {
      return errno == EINTR;
    }
    if (sources[0].revents != 0) take(output_, end_.out, most_output);
    if (sources[1].revents != 0) take(errors_, end_.err, most_errors);
    return sources[2].revents == 0;
  }

  std::string take_output() { return std::exchange(end_.out, {}); }
  bool has_too_much() const { return end_.out.size() >= most_output; }

  CommandEnd ended(int signal) {
    reap(signal);
    return std::move(end_);
  }

 private:
  static void take(client::OwnedFd& from, std::string& to, std::size_t most) {
    std::array<char, 16U << 10> bytes;
    const auto count = ::read(from.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return static_cast<void>(from = client::OwnedFd());
    to.append(bytes.data(), std::min(static_cast<std::size_t>(count), most - to.size()));
  }

  void reap(int signal) {
    if (process_ <= 0) return;
    if (signal != 0) ::kill(-process_, signal);
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    end_.exit = WIFEXITED(status) ? WEXITSTATUS(status) : of_signals + WTERMSIG(status);
    process_ = 0;
  }

  pid_t process_ = 0;
  client::OwnedFd output_;
  client::OwnedFd errors_;
  CommandEnd end_;
};

Milliseconds left_until(Clock::time_point until) {
  return std::max(std::chrono::ceil<Milliseconds>(until - Clock::now()), Milliseconds(0));
}

}  // namespace

CommandEnd command_output(const std::vector<std::string>& words, int reader) {
  Child child(words);
  const auto until = Clock::now() + longest_run;
  while (child.is_open()) {
    const bool is_read = child.wait(reader, left_until(until));
    if (!is_read || child.has_too_much() || Clock::now() >= until) return child.ended(SIGKILL);
  }
  return child.ended(0);
}

CommandEnd follow_command(const std::vector<std::string>& words, int reader,
                          const std::function<bool(std::string_view)>& take) {
  Child child(words);
  while (child.is_open()) {
    const bool is_read = child.wait(reader, beat);
    if (!is_read || !take(child.take_output())) return child.ended(SIGTERM);
  }
  return child.ended(0);
}

}  // namespace cellblock::cli::ui
