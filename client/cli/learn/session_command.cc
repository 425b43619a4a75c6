#include "client/cli/learn/session_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "client/cli/programs/argument_pointers.h"

namespace cellblock::cli {
namespace {

std::vector<std::string> environment_with(const std::string& socket) {
  constexpr std::string_view name = "CELLBLOCK_SOCKET=";
  std::vector<std::string> variables{std::string(name) + socket};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(name)) variables.emplace_back(*variable);
  }
  return variables;
}

// No signal is blocked there, whatever we wait for.
int spawn(pid_t& process, std::vector<std::string> words, std::vector<std::string> environment,
          int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const auto argv = argument_pointers(words);
  const auto envp = argument_pointers(environment);
  const int error =
      posix_spawnp(&process, argv.front(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

Error cannot_run(const std::string& word, int error) {
  return Error{fmt::format("{}: {}", word, std::generic_category().message(error))};
}

}  // namespace

Result<SessionCommand> SessionCommand::start(const std::vector<std::string>& words,
                                             const std::string& socket) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) < 0) return std::unexpected(cannot_run("pipe", errno));
  client::OwnedFd output(ends[0]);
  const client::OwnedFd input(ends[1]);
  pid_t process = -1;
  const int error = spawn(process, words, environment_with(socket), input.get());
  if (error != 0) return std::unexpected(cannot_run(words.front(), error));
  return SessionCommand(process, std::move(output));
}

void SessionCommand::terminate() const { ::kill(process_, SIGTERM); }

std::string SessionCommand::wait() {
  output_ = client::OwnedFd();
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0) {
    if (errno != EINTR) return "its end is not known";
  }
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 ? std::string() : fmt::format("ended with {}", code);
}

}  // namespace cellblock::cli
