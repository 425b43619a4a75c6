#include "client/cli/programs/daemon_program.h"

#include <fmt/format.h>
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

}  // namespace

// With a path the mode is the one that was asked for, or the system's.
std::vector<std::string> daemon_words(const Context& context, const std::string& path) {
  std::vector<std::string> words{own_installation().daemon};
  const auto found = configuration_of(context);
  if (path.empty()) say_which(context, found);
  if ((path.empty() ? found.mode : context.mode) == Mode::user) words.emplace_back("--user");
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
