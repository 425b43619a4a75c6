#include "client/cli/programs/program_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <system_error>

#include "client/cli/programs/argument_pointers.h"

namespace cellblock::cli {
namespace {

/// posix_spawn_file_actions_init(3) and posix_spawnattr_init(3), destroyed with it.
class SpawnSettings {
 public:
  explicit SpawnSettings(const ProgramStart& start) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    set_files(start);
    set_signals(start.has_own_group);
  }
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  void set_files(const ProgramStart& start) {
    if (!start.directory.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, start.directory.c_str());
    }
    if (start.input == ProgramInput::empty) {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (start.output >= 0) posix_spawn_file_actions_adddup2(&actions_, start.output, STDOUT_FILENO);
    if (start.errors >= 0) posix_spawn_file_actions_adddup2(&actions_, start.errors, STDERR_FILENO);
  }
  void set_signals(bool has_own_group) {
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(
        &attributes_,
        static_cast<short>(POSIX_SPAWN_SETSIGMASK | (has_own_group ? POSIX_SPAWN_SETPGROUP : 0)));
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

Result<pid_t> start_program(const ProgramStart& start) {
  auto words = start.words;
  auto variables = start.environment.value_or(std::vector<std::string>{});
  const auto argv = argument_pointers(words);
  const auto given = argument_pointers(variables);
  const SpawnSettings settings(start);
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, argv.front(), settings.actions(), settings.attributes(), argv.data(),
                     start.environment ? given.data() : environ);
  if (error == 0) return process;
  return fail(fmt::format("{}: {}", words.front(), std::generic_category().message(error)));
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes them
  return value == nullptr ? std::string() : std::string(value);
}

std::vector<std::string> variables_of_ours(const std::vector<const char*>& names) {
  std::vector<std::string> variables;
  for (const char* name : names) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody changes them
    const char* value = std::getenv(name);
    if (value != nullptr) variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

}  // namespace cellblock::cli
