#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/programs/daemon_program.h"
#include "client/cli/table/shared_options.h"
#include "client/cli/terminal/json_text.h"
#include "client/cli/terminal/stdio.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t longest_report = 4U << 20;

constexpr std::string_view which_configuration =
    "the configuration; else CELLBLOCK_CONFIG, else the one that the daemon reads";
constexpr Option checked_path{
    .name = "PATH", .what = which_configuration, .completes = Completes::files};
constexpr Option effective_option =
    flag("--effective", "print what holds in place of the verdict, key by key, written or not");
constexpr Option brief_option =
    flag("--brief", "print only what is wrong or left out, and nothing if all is well");
constexpr Option explained_user{
    .name = "USER",
    .what = "a user of this host, by name or number; left out, the server itself is explained",
    .completes = Completes::servers};
constexpr Option explained_server{.name = "SERVER",
                                  .what = "the server, as the configuration names it",
                                  .completes = Completes::servers};
constexpr Option explained_tool{.name = "TOOL",
                                .what = "one tool; else all that the user may do",
                                .completes = Completes::tools};
constexpr Option explained_arguments{.name = "ARGS", .what = "its arguments as one JSON object"};
constexpr Option explained_configuration{.name = "--config",
                                         .what = which_configuration,
                                         .placeholder = "FILE",
                                         .completes = Completes::files};
constexpr Option prove_option =
    flag("--prove", "then try from inside a cell of the server what it should not do");

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
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(Exit::error);
  const bool is_partial = code == static_cast<int>(Exit::left_out);
  const bool passed = code == 0;
  print_json(dumped(Json{
      {"ok", passed}, {"starts", passed || is_partial}, {"exit_code", code}, {"report", report}}));
  if (is_partial) return Exit::left_out;
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

// Becomes `cellblockd --check`, so that what checks is what runs; its exit code is ours. With
// --json its report is caught instead.
Exit run_check(const Context& context, const Words& words) {
  auto daemon = daemon_words(context, words.text(checked_path));
  daemon.emplace_back("--check");
  if (words.has(effective_option)) daemon.emplace_back("--effective");
  if (words.has(brief_option)) daemon.emplace_back("--brief");
  if (context.output == Output::json) return check_as_json(daemon);
  become(std::move(daemon));
}

// One word alone is a server's.
bool is_of_server_alone(const Words& words) { return words.text(explained_server).empty(); }

// An empty word is a variable that was not set: the words behind it would take its place.
std::string empty_word(const Words& words) {
  for (const Option* word : {&explained_user, &explained_server, &explained_tool}) {
    if (words.has(*word) && words.text(*word).empty()) {
      return fmt::format("{} is empty: give its name, or leave it and all behind it out",
                         word->name);
    }
  }
  return {};
}

std::string explain_mistake(const Words& words) {
  if (auto mistake = empty_word(words); !mistake.empty()) return mistake;
  if (!is_of_server_alone(words)) {
    return words.has(prove_option) ? "--prove: tries what a server can do: name it alone" : "";
  }
  if (words.text(explained_user).empty()) return "SERVER, or USER and SERVER, is required";
  return words.has(as_role) ? "--as: a role is somebody's: name the user as well" : "";
}

void add_unless_empty(std::vector<std::string>& words, std::string word) {
  if (!word.empty()) words.push_back(std::move(word));
}

// `cellblockd --explain`: what that server can see and do, what that user may do with it, or which
// rule decides and where it stands.
std::vector<std::string> explain_words(const Context& context, const Words& words) {
  auto daemon = daemon_words(context, words.text(explained_configuration));
  if (context.output == Output::json) daemon.emplace_back("--json");
  if (words.has(as_role)) daemon.push_back("--as=" + words.text(as_role));
  daemon.emplace_back("--explain");
  add_unless_empty(daemon, words.text(explained_user));
  add_unless_empty(daemon, words.text(explained_server));
  add_unless_empty(daemon, words.text(explained_tool));
  add_unless_empty(daemon, words.text(explained_arguments));
  return daemon;
}

// What is tried is the daemon's configuration, whether or not the explanation could be had.
Exit explain_and_prove(const Context& context, const Words& words) {
  const pid_t child = ::fork();
  if (child < 0) return Exit::error;
  if (child == 0) become(explain_words(context, words));
  int status = 0;
  ::waitpid(child, &status, 0);
  auto request = server_request(words);
  request.server = words.text(explained_user);
  return prove(context, request);
}

Exit run_explain(const Context& context, const Words& words) {
  if (words.has(prove_option)) return explain_and_prove(context, words);
  become(explain_words(context, words));
}

}  // namespace

Command check_command() {
  return {.name = "check",
          .group = Group::set_up,
          .what = "check a configuration, without a daemon",
          .note =
              "Ends with 0: all is well, 12: cellblockd would start, and leave servers, roles "
              "or\ntokens out, 1: it would not start.\n",
          .example = "cellblock check ./cellblock.toml",
          .optional = {&checked_path},
          .options = {&effective_option, &brief_option},
          .run = run_check};
}

Command explain_command() {
  return {
      .name = "explain",
      .group = Group::see,
      .what = "what a server can see and do, what a user may do with it, or which rule decides",
      .note =
          "Ends with 0: allowed, 4: denied, 11: somebody is asked first, 2: no such user, "
          "server\nor role, or ARGS are missing and decide, 1: the configuration is not "
          "usable.\nWith --prove it ends with 9 where an attempt succeeds that nothing declares.\n",
      .example =
          "cellblock explain git\n  cellblock explain alice git git_push "
          "'{\"remote\":\"origin\"}'",
      .optional = {&explained_user, &explained_server, &explained_tool, &explained_arguments},
      .options = {&explained_configuration, &as_role, &prove_option, &workspace_directory,
                  &timeout_option},
      .needs = {{&workspace_directory, &prove_option}, {&timeout_option, &prove_option}},
      .run = run_explain,
      .mistake = explain_mistake};
}

}  // namespace cellblock::cli
