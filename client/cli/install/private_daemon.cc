#include "client/cli/install/private_daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>
#include <vector>

#include "client/cli/import/read/bounded_file.h"
#include "client/cli/programs/daemon_program.h"
#include "client/cli/programs/program_start.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/connection/unix_connect.h"

namespace cellblock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds pause{20};
constexpr std::chrono::seconds longest_start{30};
// The daemon gives its cells five seconds of its own.
constexpr std::chrono::seconds longest_end{20};
constexpr std::size_t most_log = 64U << 10;

// What else our environment holds is nobody's business whose package is installed.
constexpr const char* passed_on[] = {
    "PATH", "HOME", "LANG", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"};

// In a group of its own: Ctrl-C at the terminal is for us, and we end it.
Result<pid_t> spawn_daemon(std::vector<std::string> words, const std::string& log) {
  const client::OwnedFd written(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!written.valid())
    return fail(fmt::format("{}: {}", safe_line(log), std::generic_category().message(errno)));
  return start_program(
      {.words = std::move(words),
       .output = written.get(),
       .errors = written.get(),
       .environment = variables_of_ours({std::begin(passed_on), std::end(passed_on)}),
       .has_own_group = true});
}

std::unexpected<Error> cannot_start(const std::string& log) {
  auto said = bounded_file(log, most_log).value_or("");
  while (said.ends_with('\n')) said.pop_back();
  return fail(fmt::format("cellblockd could not start to make the cell:\n{}", safe_text(said)));
}

bool has_ended(pid_t process) { return ::waitpid(process, nullptr, WNOHANG) == process; }

bool ends_within(pid_t process, std::chrono::seconds time) {
  for (const auto until = Clock::now() + time; Clock::now() < until;) {
    if (has_ended(process)) return true;
    std::this_thread::sleep_for(pause);
  }
  return false;
}

void end(pid_t process) {
  ::kill(process, SIGTERM);
  if (ends_within(process, longest_end)) return;
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
}

}  // namespace

Result<PrivateDaemon> PrivateDaemon::start(const Context& asked, const Scratch& scratch,
                                           const std::string& configuration,
                                           const std::stop_token& stop) {
  const auto file = scratch.path("cellblock.toml");
  const auto log = scratch.path("log");
  std::filesystem::remove(file);
  CELLBLOCK_CHECK(write_new_file(file, configuration));
  auto words = daemon_words(asked, file);
  const auto process = CELLBLOCK_TRY(spawn_daemon(std::move(words), log));
  const auto socket = scratch.path(scratch_socket);
  PrivateDaemon daemon(process, {.socket = socket, .mode = asked.mode, .daemon = socket});
  for (const auto until = Clock::now() + longest_start; Clock::now() < until;) {
    if (client::connect_blocking(socket)) return daemon;
    if (stop.stop_requested()) return fail("interrupted");
    if (has_ended(process)) {
      daemon.process_ = 0;
      return cannot_start(log);
    }
    std::this_thread::sleep_for(pause);
  }
  return cannot_start(log);
}

PrivateDaemon::PrivateDaemon(PrivateDaemon&& other) noexcept
    : process_(std::exchange(other.process_, 0)), context_(std::move(other.context_)) {}

PrivateDaemon::~PrivateDaemon() {
  if (process_ > 0) end(process_);
}

}  // namespace cellblock::cli
