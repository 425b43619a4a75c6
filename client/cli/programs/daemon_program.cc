#include "client/cli/programs/daemon_program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "client/cli/programs/argument_pointers.h"
#include "client/cli/programs/configuration.h"
#include "client/cli/programs/installation.h"
#include "client/cli/terminal/exit_code.h"
#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

// Of the system's an ordinary user can read all but what a check needs as well.
void say_which(const Context& context, const Configuration& found) {
  if (::geteuid() == 0 || context.mode != Mode::either) return;
  if (found.by == FoundBy::variable) {
    fmt::print(stderr, "cellblock: the configuration is {} (CELLBLOCK_CONFIG)\n",
               safe_line(found.path));
  } else if (found.mode == Mode::user) {
    fmt::print(stderr, "cellblock: your own configuration, as with --user\n");
  } else {
    fmt::print(stderr,
               "cellblock: the system's configuration; as anybody but root, files that only root "
               "may read\n  (secrets) count as missing\n");
  }
}

// A system's daemon accepts no file of an ordinary user, so such a file is that user's own.
Mode mode_of_file(const Context& context, const std::string& path) {
  struct stat status{};
  const bool is_own =
      ::geteuid() != 0 && ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid();
  if (context.mode != Mode::either || !is_own) return context.mode;
  fmt::print(stderr, "cellblock: it is your own file, so it is read as with --user\n");
  return Mode::user;
}

}  // namespace

std::vector<std::string> daemon_words(const Context& context, const std::string& path) {
  std::vector<std::string> words{own_installation().daemon};
  const auto found = configuration_of(context);
  if (path.empty()) say_which(context, found);
  const Mode mode = path.empty() ? found.mode : mode_of_file(context, path);
  if (mode == Mode::user) words.emplace_back("--user");
  words.push_back("--config=" + (path.empty() ? found.path : path));
  return words;
}

void become(std::vector<std::string> words) {
  const auto arguments = argument_pointers(words);
  ::execv(arguments.front(), arguments.data());
  fmt::print(stderr,
             "cellblock: {}: {}\n  The daemon checks its configuration itself: install it.\n",
             words.front(), std::generic_category().message(errno));
  static_cast<void>(std::fflush(stderr));
  ::_exit(static_cast<int>(Exit::error));
}

}  // namespace cellblock::cli
