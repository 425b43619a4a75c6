#include "client/cli/import/propose/proposed_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/propose/proposed_paths.h"
#include "client/cli/import/read/secret_guess.h"
#include "policy/sandbox/environment_rules.h"

namespace cellblock::cli {
namespace {

bool is_known(const Proposal& proposal, const std::string& name) {
  return std::ranges::any_of(proposal.variables,
                             [&](const auto& one) { return one.first == name; }) ||
         std::ranges::find(proposal.secrets, name, &ProposedSecret::variable) !=
             proposal.secrets.end();
}

void propose_secret(const std::string& name, const Places& places, Proposal& proposal) {
  proposal.secrets.push_back(
      {.variable = name, .file = fmt::format("{}/{}.{}", places.secrets, proposal.name, name)});
}

// PATH of a host leads to where no cell can look.
bool is_left_out(const std::string& name, Proposal& proposal) {
  const auto problem = variable_problem(name);
  if (!is_variable_name(name) || name == "PATH" || problem) {
    proposal.remarks.push_back(fmt::format("the variable {}: a cell has its own, or none", name));
    return true;
  }
  return is_known(proposal, name);
}

// MEMORY_FILE_PATH and the like. What only reads it says the same, so this is said and not done.
bool sounds_like_a_place_to_write(std::string_view name) {
  constexpr std::array<std::string_view, 6> words{"MEMORY",  "DATA",  "STORE",
                                                  "STORAGE", "CACHE", "DB"};
  return std::ranges::any_of(
      words, [name](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

void propose_variable(const DeclaredVariable& declared, const PlaceholderValues& values,
                      const MachineView& machine, const Places& places, Proposal& proposal) {
  if (is_left_out(declared.name, proposal)) return;
  auto value = filled_in(declared.value, values);
  const bool is_path = value.starts_with('/');
  const bool is_secret = declared.secret || is_placeholder(value) || looks_secret(value) ||
                         (sounds_secret(declared.name) && !is_path);
  if (is_secret) {
    propose_secret(declared.name, places, proposal);
    return;
  }
  const bool is_workspace = value == "/workspace" || value.starts_with("/workspace/");
  if (is_workspace && proposal.workspace == Workspace::none) proposal.workspace = Workspace::read;
  if (is_path && !is_workspace && value.find(':') == std::string::npos) {
    propose_path(value, PathUse::read, "named by the variable " + declared.name, machine, proposal);
    if (sounds_like_a_place_to_write(declared.name)) {
      proposal.todos.push_back(
          fmt::format("{} may name what the server writes: a file below /home/mcp stays in its own "
                      "home, else declare its directory under write",
                      declared.name));
    }
  }
  proposal.variables.emplace_back(declared.name, std::move(value));
}

}  // namespace

void propose_environment(const DeclaredServer& server, const MachineView& machine,
                         const Places& places, Proposal& proposal) {
  const PlaceholderValues values{server.bundle ? places.directory_of(proposal.name)
                                               : std::string()};
  for (const auto& variable : server.variables) {
    propose_variable(variable, values, machine, places, proposal);
  }
  for (const auto& name : server.inherited) {
    if (!is_left_out(name, proposal)) propose_secret(name, places, proposal);
  }
}

}  // namespace cellblock::cli
