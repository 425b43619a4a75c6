#include "client/cli/import/proposed_arguments.h"

#include <fmt/format.h>

#include <cctype>

#include "client/cli/import/proposed_paths.h"
#include "client/cli/import/secret_guess.h"

namespace cellblock::cli {
namespace {

// "--name" of "--name=value"; the value behind it, or all of it.
struct Option {
  std::string name;
  std::string value;
};

Option option_of(const std::string& argument) {
  const auto equals = argument.find('=');
  const bool is_option = argument.starts_with('-') && equals != std::string::npos;
  if (!is_option) return {.name = {}, .value = argument};
  return {.name = argument.substr(0, equals + 1), .value = argument.substr(equals + 1)};
}

bool is_secret(const Option& option, const std::string& before) {
  const bool is_named = !option.name.empty()
                            ? sounds_secret(option.name)
                            : before.starts_with('-') && before.find('=') == std::string::npos &&
                                  !option.value.starts_with('-') && sounds_secret(before);
  return looks_secret(option.value) ||
         (is_named && !option.value.empty() && !option.value.starts_with('/'));
}

bool is_of_another_system(const std::string& text) {
  return text.size() > 2 && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         text[1] == ':' && (text[2] == '\\' || text[2] == '/');
}

std::string taken_out(const Option& option, const char* what, std::size_t place,
                      Proposal& proposal) {
  proposal.todos.push_back(fmt::format("word {} of the command {}", place, what));
  return option.name + "TODO";
}

void look_for_paths(const std::string& value, std::size_t place, const MachineView& machine,
                    Proposal& proposal) {
  if (value == "/workspace" || value.starts_with("/workspace/")) {
    if (proposal.workspace == Workspace::none) proposal.workspace = Workspace::read;
  } else if (value.starts_with('/') && value.find('\n') == std::string::npos) {
    propose_path(value, PathUse::read, "named in its arguments", machine, proposal);
  } else if (value.starts_with("~/") || value == "~" || is_of_another_system(value)) {
    proposal.todos.push_back(
        fmt::format("word {} of the command is no path of this machine's cells: {}", place, value));
  }
}

}  // namespace

void propose_arguments(const std::vector<std::string>& arguments, const MachineView& machine,
                       Proposal& proposal) {
  std::string before;
  for (const auto& argument : arguments) {
    const auto option = option_of(argument);
    const auto place = proposal.command.size() + 1;
    if (is_placeholder(option.value)) {
      proposal.command.push_back(
          taken_out(option,
                    "was left to the host to fill in: write what it is (a secret goes "
                    "into env_from_file or secret_files)",
                    place, proposal));
    } else if (is_secret(option, before)) {
      proposal.command.push_back(
          taken_out(option,
                    "looked like a secret: give it by env_from_file or secret_files, if the server "
                    "takes it there",
                    place, proposal));
    } else {
      look_for_paths(option.value, place, machine, proposal);
      proposal.command.push_back(argument);
    }
    before = argument;
  }
}

}  // namespace cellblock::cli
