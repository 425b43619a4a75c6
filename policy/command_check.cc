#include "policy/command_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "policy/path_rules.h"

namespace cellblock {
namespace {

constexpr std::size_t most_arguments = 1024;
constexpr std::size_t longest_argument = 128U << 10;  // the kernel's MAX_ARG_STRLEN
constexpr std::string_view allowed_command =
    "allowed: [\"/absolute/path/of/the/program\", \"argument\", ...], run without a shell";

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Programs that download what they run, and the argument that makes them do so.
struct Fetcher {
  std::string_view program;
  std::string_view argument;  ///< empty: always
};

constexpr Fetcher fetchers[] = {
    {"npx", ""},     {"bunx", ""},       {"uvx", ""},     {"pnpx", ""},   {"docker", ""},
    {"podman", ""},  {"npx-cli.js", ""}, {"npm", "exec"}, {"npm", "x"},   {"pnpm", "dlx"},
    {"yarn", "dlx"}, {"pipx", "run"},    {"uv", "run"},   {"uv", "tool"}, {"bun", "x"},
};

bool fetches_at(const std::vector<std::string>& command, std::size_t index) {
  const std::string_view program = name_in(command[index]);
  std::string_view next;
  if (index + 1 < command.size()) next = command[index + 1];
  return std::ranges::any_of(fetchers, [&](const Fetcher& fetcher) {
    return program == fetcher.program && (fetcher.argument.empty() || next == fetcher.argument);
  });
}

// As the program itself, or as the script of an interpreter.
bool fetches_at_start(const std::vector<std::string>& command) {
  return fetches_at(command, 0) ||
         (command.size() > 1 && command[1].find('/') != std::string::npos &&
          fetches_at(command, 1));
}

bool runs_shell_text(const std::vector<std::string>& command) {
  const std::string_view program = name_in(command[0]);
  const bool shell = program == "sh" || program == "bash" || program == "dash" ||
                     program == "zsh" || program == "busybox";
  return shell && std::ranges::find(command, "-c") != command.end();
}

std::optional<std::string> why_it_will_not_start(CommandState state) {
  switch (state) {
    case CommandState::usable:
      return std::nullopt;
    case CommandState::not_visible:
      return "is not visible inside the cell: it is neither in the host's system directories "
             "(/usr, "
             "/bin, ...) nor under read or write";
    case CommandState::missing:
      return "does not exist";
    case CommandState::directory:
      return "is a directory";
    case CommandState::not_a_file:
      return "is not a regular file";
    case CommandState::not_executable:
      return "is not executable";
    case CommandState::unreadable:
      return "cannot be looked at";
  }
  return std::nullopt;
}

void check_facts(const Scope& scope, const TextAt& program, const CommandFacts& facts) {
  if (!facts.unsafe.empty()) {
    scope.error(program.at, "command",
                fmt::format("somebody else could change \"{}\": {}; allowed: a program that, with "
                            "every directory above it, only root (or, rootless, you) can change",
                            program.value, facts.unsafe));
  }
  if (facts.set_id == SetId::yes) {
    scope.error(program.at, "command",
                fmt::format("{} is set-uid or set-gid, which has no effect in a cell; allowed: "
                            "programs without those bits",
                            facts.host_path));
  }
  if (auto reason = why_it_will_not_start(facts.state)) {
    scope.warning(program.at, "command",
                  fmt::format("\"{}\" {}, so this server will not start", program.value, *reason));
  }
}

void warn_about_habits(const Scope& scope, Place at, const std::vector<std::string>& command) {
  if (fetches_at_start(command)) {
    scope.warning(at, "command",
                  "downloads what it runs at every start; better: install it once and name its own "
                  "program here");
  }
  if (runs_shell_text(command)) {
    scope.warning(at, "command", "runs a shell text; better: name the program and its arguments");
  }
}

bool check_arguments(const Scope& scope, const TextList& texts) {
  const std::size_t errors_before = scope.complaints.error_count();
  for (const TextAt& text : texts) {
    if (text.value.find('\0') != std::string::npos) {
      scope.error(text.at, "command", "has a NUL in it; allowed: any other byte");
    } else if (text.value.size() >= longest_argument) {
      scope.error(text.at, "command", "an argument is too long; allowed: less than 128KiB");
    }
  }
  return scope.complaints.error_count() == errors_before;
}

}  // namespace

std::vector<std::string> check_command(const Scope& scope, const ServerText& text,
                                       const HostFacts& facts) {
  if (!text.command || text.command->value.empty() || text.command->value.size() > most_arguments) {
    if (scope.mentioned("command")) return {};  // of the wrong type
    const Place at = text.command ? text.command->at : text.name.at;
    scope.error(at, "command",
                fmt::format("is missing, empty, or has more than {} parts; {}", most_arguments,
                            allowed_command));
    return {};
  }
  const TextList& texts = text.command->value;
  if (auto problem = path_problem(texts.front().value)) {
    scope.error(texts.front().at, "command",
                fmt::format("\"{}\" {}; {}", texts.front().value, *problem, allowed_command));
    return {};
  }
  if (!check_arguments(scope, texts)) return {};
  std::vector<std::string> command;
  for (const TextAt& part : texts) command.push_back(part.value);
  const auto found = facts.commands.find(text.name.value);
  if (found != facts.commands.end()) check_facts(scope, texts.front(), found->second);
  warn_about_habits(scope, texts.front().at, command);
  return command;
}

}  // namespace cellblock
