#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "client/cli/commands.h"
#include "client/cli/configuration.h"
#include "client/cli/stdio.h"
#include "client/cli/terminal_text.h"
#include "client/fd.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t longest_report = 4U << 20;

std::string own_directory() {
  std::array<char, PATH_MAX> path{};
  const auto length = ::readlink("/proc/self/exe", path.data(), path.size());
  const std::string own(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return own.substr(0, own.rfind('/'));
}

// Beside this program in a build tree; installed, they are in bin and sbin of one prefix.
std::string daemon_path() {
  const auto own = own_directory();
  for (auto path : {own + "/cellblockd", own + "/../sbin/cellblockd"}) {
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return CELLBLOCK_SBINDIR "/cellblockd";
}

[[noreturn]] void become(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments.front(), arguments.data());
  fmt::print(stderr,
             "cellblock: {}: {}\n  The daemon checks its configuration itself: install it.\n",
             words.front(), std::generic_category().message(errno));
  static_cast<void>(std::fflush(stderr));
  ::_exit(static_cast<int>(Exit::error));
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> bytes{};
  while (text.size() < longest_report) {
    const auto read = read_some(descriptor, bytes);
    if (read.progress == Progress::ended) break;
    text.append(bytes.data(), read.bytes);
  }
  return text;
}

Exit report_as_json(const std::string& report, int status) {
  const bool passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const nlohmann::ordered_json json{{"ok", passed}, {"report", report}};
  print_json(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return passed ? Exit::ok : Exit::error;
}

// The same words with the daemon's report caught.
Exit check_as_json(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Exit::error;
  const client::OwnedFd reading(ends[0]);
  client::OwnedFd writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return Exit::error;
  if (child == 0) {
    ::dup2(writing.get(), STDOUT_FILENO);
    ::dup2(writing.get(), STDERR_FILENO);
    become(words);
  }
  writing = client::OwnedFd();
  const auto report = read_to_end(reading.get());
  int status = 0;
  ::waitpid(child, &status, 0);
  return report_as_json(report, status);
}

}  // namespace

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

// With a path the mode is the one that was asked for, or the system's.
std::vector<std::string> words_for(const Context& context, const std::string& path) {
  std::vector<std::string> words{daemon_path()};
  const auto found = configuration_of(context);
  if (path.empty()) say_which(context, found);
  if ((path.empty() ? found.mode : context.mode) == Mode::user) words.emplace_back("--user");
  words.push_back("--config=" + (path.empty() ? found.path : path));
  return words;
}

}  // namespace

Exit run_check(const Context& context, const std::string& path) {
  auto words = words_for(context, path);
  words.emplace_back("--check");
  if (context.output == Output::json) return check_as_json(words);
  become(std::move(words));
}

Exit run_explain(const Context& context, const ExplainRequest& request) {
  auto words = words_for(context, request.config);
  if (context.output == Output::json) words.emplace_back("--json");
  if (!request.role.empty()) words.push_back("--as=" + request.role);
  words.emplace_back("--explain");
  if (!request.user.empty()) words.push_back(request.user);
  words.push_back(request.server);
  if (!request.tool.empty()) words.push_back(request.tool);
  if (!request.arguments.empty()) words.push_back(request.arguments);
  become(std::move(words));
}

}  // namespace cellblock::cli
