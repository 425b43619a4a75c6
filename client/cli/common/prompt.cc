#include "client/cli/common/prompt.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void mark(int descriptor) { static_cast<void>(::eventfd_write(descriptor, 1)); }

bool is_told(int signals, int over) {
  std::array<pollfd, 2> sources{pollfd{signals, POLLIN, 0}, pollfd{over, POLLIN, 0}};
  while (::poll(sources.data(), sources.size(), -1) < 0) continue;
  return (sources[1].revents & POLLIN) == 0;
}

}  // namespace

Interruption::Interruption() {
  const auto set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = client::OwnedFd(::signalfd(-1, &set, SFD_CLOEXEC));
  told_ = client::OwnedFd(::eventfd(0, EFD_CLOEXEC));
  over_ = client::OwnedFd(::eventfd(0, EFD_CLOEXEC));
  waits_ = std::thread([this] {
    if (!is_told(signals_.get(), over_.get())) return;
    stop_.request_stop();
    mark(told_.get());
  });
}

// Signals that came stay blocked: the command is at its end, and says itself how it ended.
Interruption::~Interruption() {
  mark(over_.get());
  waits_.join();
}

void tell(const Context& context, const std::string& line) {
  if (context.output == Output::human) fmt::print(stderr, "cellblock: {}\n", line);
}

bool can_ask(const Context& context) {
  return context.output == Output::human && ::isatty(STDIN_FILENO) == 1;
}

namespace {

/// While it lives, a terminal does not show what is typed.
class HiddenInput {
 public:
  explicit HiddenInput(Echo echo) {
    is_hidden_ = echo == Echo::off && ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (!is_hidden_) return;
    auto hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  ~HiddenInput() {
    if (!is_hidden_) return;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    fmt::print(stderr, "\n");
  }
  HiddenInput(const HiddenInput&) = delete;
  HiddenInput& operator=(const HiddenInput&) = delete;

 private:
  termios before_{};
  bool is_hidden_ = false;
};

// A line with its end; empty: a stop, or the end of the input.
std::string typed_line(const Interruption& interruption, const std::string& question) {
  // What was typed before it was read is no answer to it.
  ::tcflush(STDIN_FILENO, TCIFLUSH);
  fmt::print(stderr, "{}", question);
  static_cast<void>(std::fflush(stderr));
  std::array<pollfd, 2> sources{pollfd{STDIN_FILENO, POLLIN, 0},
                                pollfd{interruption.descriptor(), POLLIN, 0}};
  while (::poll(sources.data(), sources.size(), -1) < 0) continue;
  if (sources[1].revents != 0) return {};
  std::array<char, 4096> line{};
  const auto count = ::read(STDIN_FILENO, line.data(), line.size());
  return {line.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

}  // namespace

bool agrees(const Interruption& interruption, const std::string& question) {
  const auto said = typed_line(interruption, question + " [y/N] ");
  return said == "y\n" || said == "Y\n" || said == "yes\n";
}

std::optional<std::string> answer_to(const Interruption& interruption, const std::string& question,
                                     Echo echo) {
  const HiddenInput hidden(echo);
  auto line = typed_line(interruption, question);
  if (!line.ends_with('\n')) return std::nullopt;
  line.pop_back();
  return line;
}

}  // namespace cellblock::cli
