#include "client/cli/tool_rows/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "client/cli/add/added_proposal.h"
#include "client/cli/add/origin.h"
#include "client/cli/bridge/stream_pump.h"
#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/propose.h"
#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/read/package_run.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/import/remote/remote_address.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/install/places.h"
#include "client/cli/programs/argument_pointers.h"
#include "client/cli/programs/installation.h"
#include "client/cli/table/words.h"
#include "client/cli/tools/tools.h"

// What stands before any host's line: the server that was added with that line, through cellblock.
namespace cellblock::cli {
namespace {

using Line = std::vector<std::string>;

// A host that asks nothing for this long shows no error either.
constexpr std::chrono::seconds longest_wait{10};

struct KnownServers {
  Mode mode = Mode::user;
  std::vector<std::string> names;
};

struct AskedLine {
  Line words;               ///< without values of headers
  bool has_values = false;  ///< it had some: another server's token, perhaps
};

AskedLine asked_line(const Line& line) {
  const auto remote = as_remote({.command = line});
  if (!remote) return {.words = line};
  const bool has_values = std::ranges::any_of(
      remote->variables, [](const auto& variable) { return !is_placeholder(variable.value); });
  return {.words = remote->command, .has_values = has_values};
}

// Of one's own, or else of the system's.
KnownServers known_servers(const Context& context, const Line& line) {
  for (const Mode mode : {Mode::user, Mode::system}) {
    if (context.mode != Mode::either && context.mode != mode) continue;
    auto names = servers_with_line(places_of(context, mode), line);
    if (!names.empty()) return {.mode = mode, .names = std::move(names)};
  }
  return {};
}

// "@scope/server-files" is called server-files.
std::string name_for(const Line& line) {
  const auto run = package_run(line);
  if (run && *run && is_remote(**run)) {
    const auto address = remote_address(address_in(**run));
    return address ? server_name_for(address->host) : "NAME";
  }
  const auto whole = run && *run ? (*run)->package.name : line.front();
  auto name = server_name_for(whole.substr(whole.rfind('/') + 1));
  return name.empty() ? "NAME" : name;
}

std::string advice_for(const Line& line) {
  std::string words;
  for (const auto& word : line) words += " " + shell_word(word);
  return fmt::format("cellblock add {} --{}", name_for(line), words);
}

// Nothing is granted by being asked for: whoever may add servers says so in a terminal.
std::string refusal_of(const KnownServers& known, const Line& line) {
  if (known.names.empty()) {
    return fmt::format("this server was not added to cellblock; in a terminal: {}",
                       advice_for(line));
  }
  return fmt::format("{} were added with this line: `cellblock connect NAME` says which is meant",
                     fmt::join(known.names, " and "));
}

Exit refuse(const Context& context, const std::string& why) {
  const client::Error error{.code = client::ErrorCode::refused, .text = why};
  const Exit exit = explain(context, error, {});
  if (::isatty(STDIN_FILENO) == 0) {
    answer_first_request(STDIN_FILENO, STDOUT_FILENO, error,
                         std::chrono::steady_clock::now() + longest_wait);
  }
  return exit;
}

Exit become_connect(const Context& context, Mode mode, const std::string& server) {
  Line words{own_installation().command};
  if (mode == Mode::user) words.emplace_back("--user");
  if (mode == Mode::system) words.insert(words.end(), {"--socket", context.socket});
  words.insert(words.end(), {"connect", server});
  const auto arguments = argument_pointers(words);
  ::execv(arguments.front(), arguments.data());
  return explain(context, {.code = client::ErrorCode::invalid_argument,
                           .text = fmt::format("{}: {}", words.front(),
                                               std::generic_category().message(errno))});
}

}  // namespace

Exit run_run(const Context& context, const Words& words) {
  std::error_code ignored;
  const auto here = std::filesystem::current_path(ignored).string();
  const auto line = asked_line(with_whole_paths(words.all(started_line), here, this_machine()));
  const auto known = line.has_values ? KnownServers{} : known_servers(context, line.words);
  if (known.names.size() != 1) return refuse(context, refusal_of(known, line.words));
  return become_connect(context, known.mode, known.names.front());
}

}  // namespace cellblock::cli
