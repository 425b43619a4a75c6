#include "policy/config_check/command_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "policy/config/path_rules.h"
#include "policy/config_check/command_lint.h"

namespace cellblock {
namespace {

constexpr std::size_t most_arguments = 1024;
constexpr std::size_t longest_argument = 128U << 10;  // the kernel's MAX_ARG_STRLEN
constexpr std::string_view allowed_command =
    "allowed: [\"/absolute/path/of/the/program\", \"argument\", ...], run without a shell";

const char* what_is_lost(LostArgument::Reason reason) {
  switch (reason) {
    case LostArgument::Reason::not_visible:
      return "is on the host, but not visible inside the cell; allowed: its directory under "
             "program "
             "(what the server is installed in) or read";
    case LostArgument::Reason::missing:
      return "does not exist, neither on the host nor in the cell; allowed: the path of the script "
             "inside the cell, its directory under program or read";
  }
  return "";
}

void warn_of_lost(const Scope& scope, Place at, const CommandFacts& facts) {
  for (const LostArgument& argument : facts.lost_arguments) {
    scope.warning(at, "command",
                  fmt::format("\"{}\" {}", argument.path, what_is_lost(argument.reason)));
  }
}

void warn_of_hidden(const Scope& scope, const std::vector<VariableText>& variables,
                    const CommandFacts& facts) {
  const Scope here = scope.below("env");
  for (const HiddenVariable& hidden : facts.hidden_variables) {
    const auto written = std::ranges::find(variables, hidden.name,
                                           [](const VariableText& one) { return one.name.value; });
    if (written == variables.end()) continue;
    here.warning(written->value.at, hidden.name,
                 fmt::format("\"{}\" is on the host, but not visible inside the cell; allowed: it, "
                             "or its directory, under read (or write), or a path inside the cell",
                             hidden.path));
  }
}

// It is looked for again at each start of a cell, so nothing keeps it from being tried.
void note_missing(const Scope& scope, const TextAt& program, std::string_view reason,
                  PathFindings& found) {
  found.no_command = fmt::format("command: \"{}\" {}", program.value, reason);
  scope.complaints.broken(
      scope.file, program.at, scope.prefix + "command",
      fmt::format("\"{}\" {}, so this server will not start", program.value, reason));
}

CommandPlace place_of(const ServerText& text) {
  return text.image ? CommandPlace::image : CommandPlace::host;
}

void check_facts(const Scope& scope, const TextAt& program, CommandPlace place,
                 const CommandFacts& facts, PathFindings& found) {
  if (!facts.unsafe.empty()) {
    scope.broken(program.at, "command",
                 fmt::format("somebody else could change \"{}\": {}; allowed: a program that, with "
                             "every directory above it, only root (or, rootless, you) can change",
                             program.value, facts.unsafe));
  }
  if (facts.set_id == SetId::yes) {
    scope.broken(program.at, "command",
                 fmt::format("{} is set-uid or set-gid, which has no effect in a cell; allowed: "
                             "programs without those bits",
                             facts.host_path));
  }
  if (auto reason = why_it_will_not_start(facts.state)) {
    note_missing(scope, program, place == CommandPlace::image ? *reason + " in the image" : *reason,
                 found);
  }
  warn_of_lost(scope, program.at, facts);
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

std::vector<std::string> values_of(const TextList& texts) {
  std::vector<std::string> values;
  for (const TextAt& text : texts) values.push_back(text.value);
  return values;
}

}  // namespace

std::optional<std::string> why_it_will_not_start(CommandState state) {
  switch (state) {
    case CommandState::usable:
      return std::nullopt;
    case CommandState::not_visible:
      return "is not visible inside the cell: it is neither in the host's system directories "
             "(/usr, /bin, ...) nor under program, read or write";
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

std::vector<std::string> check_command(const Scope& scope, const ServerText& text,
                                       const HostFacts& facts, PathFindings& found) {
  if (!text.command || text.command->value.empty() || text.command->value.size() > most_arguments) {
    if (scope.mentioned("command")) return {};  // of the wrong type
    const Place at = text.command ? text.command->at : text.name.at;
    scope.error(at, "command",
                fmt::format("is missing, empty, or has more than {} parts; {}", most_arguments,
                            allowed_command));
    return {};
  }
  const TextList& texts = text.command->value;
  if (!check_arguments(scope, texts)) return {};
  std::vector<std::string> command = values_of(texts);
  // First: the path of a program that will not do either is no help.
  if (auto problem = habit_problem(command, place_of(text))) {
    scope.error(texts.front().at, "command",
                fmt::format("\"{}\" {}", texts.front().value, *problem));
  } else if (auto path = path_problem(texts.front().value)) {
    scope.error(texts.front().at, "command",
                fmt::format("\"{}\" {}; {}", texts.front().value, *path, allowed_command));
    return {};
  }
  const auto file = facts.commands.find(text.name.value);
  if (file == facts.commands.end()) return command;
  check_facts(scope, texts.front(), place_of(text), file->second, found);
  warn_of_hidden(scope, text.env, file->second);
  return command;
}

}  // namespace cellblock
