#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/common/daemon_program.h"
#include "client/cli/terminal/stdio.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t longest_report = 4U << 20;

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

Exit run_check(const Context& context, const std::string& path, CheckReport report) {
  auto words = daemon_words(context, path);
  words.emplace_back("--check");
  if (report == CheckReport::effective) words.emplace_back("--effective");
  if (context.output == Output::json) return check_as_json(words);
  become(std::move(words));
}

Exit run_explain(const Context& context, const ExplainRequest& request) {
  auto words = daemon_words(context, request.config);
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
