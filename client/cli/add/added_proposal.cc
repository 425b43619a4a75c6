#include "client/cli/add/added_proposal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "client/cli/import/container_run.h"
#include "client/cli/import/propose.h"
#include "client/cli/import/proposed_paths.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/egress/egress_declaration.h"
#include "policy/egress/egress_rule.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

Result<void> add_paths(const std::vector<std::string>& paths, PathUse use,
                       const MachineView& machine, Proposal& proposal) {
  for (const auto& path : paths) {
    if (!path.starts_with('/')) {
      return fail(fmt::format("{}: allowed: a whole path, /home/you/project", safe_line(path)));
    }
    propose_path(path, use, "asked for", machine, proposal);
  }
  return {};
}

Result<void> add_egress(const std::vector<std::string>& rules, Proposal& proposal) {
  for (const auto& rule : rules) {
    const auto read = parse_egress_rule(rule);
    if (!read) return fail(fmt::format("--egress {}: {}", safe_line(rule), read.error().text));
    const auto problem = declaration_problem(*read, rule);
    if (!problem.empty()) return fail(fmt::format("--egress {}: {}", safe_line(rule), problem));
    if (std::ranges::find(proposal.domains, rule) == proposal.domains.end()) {
      proposal.domains.push_back(rule);
    }
  }
  return {};
}

// What an administrator would have to decide first is no declaration yet.
Result<void> refuse_gaps(const Proposal& proposal) {
  if (!proposal.obstacle.empty()) return fail(proposal.obstacle);
  if (proposal.todos.empty()) return {};
  return fail(fmt::format("{}", fmt::join(proposal.todos, "; ")));
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char byte) {
    return std::isalnum(byte) != 0 || byte == '_' || byte == '-' || byte == '.';
  });
}

bool is_path_like(std::string_view word) {
  return word == "." || word == ".." || word.starts_with("./") || word.starts_with("../") ||
         word.find('/') != std::string_view::npos;
}

}  // namespace

std::vector<std::string> with_whole_paths(const std::vector<std::string>& command,
                                          const std::string& directory,
                                          const MachineView& machine) {
  // A name of an image is no path, and its options are looked at by themselves.
  const auto container = container_run(command);
  if (!container || *container) return command;
  const auto run = package_run(command);
  const bool is_package = !run || run->has_value();
  std::vector<std::string> words;
  words.reserve(command.size());
  for (const auto& word : command) {
    const bool is_relative =
        !word.empty() && word.front() != '/' && word.front() != '-' && word.front() != '@';
    const bool is_script = words.size() == 1 && !is_package;
    const auto whole = (fs::path(directory) / word).lexically_normal().string();
    const bool is_meant = is_relative && (is_path_like(word) || is_script) &&
                          machine.kind_of(whole) != PathKind::absent;
    words.push_back(is_meant ? whole : word);
  }
  return words;
}

std::vector<std::string> allowed_tools(const std::vector<std::string>& offered) {
  constexpr std::size_t most_listed = 256;
  std::vector<std::string> names;
  for (const auto& name : offered) {
    if (names.size() < most_listed && is_plain_name(name)) names.push_back(name);
  }
  return names;
}

Result<void> check_requested_access(const AddedServer& added, const MachineView& machine) {
  Proposal requested;
  CELLBLOCK_CHECK(add_paths(added.write, PathUse::write, machine, requested));
  CELLBLOCK_CHECK(add_paths(added.read, PathUse::read, machine, requested));
  CELLBLOCK_CHECK(add_egress(added.egress, requested));
  return refuse_gaps(requested);
}

Result<Proposal> with_requested_access(const AddedServer& added, const MachineView& machine,
                                       Proposal proposal) {
  CELLBLOCK_CHECK(add_paths(added.write, PathUse::write, machine, proposal));
  CELLBLOCK_CHECK(add_paths(added.read, PathUse::read, machine, proposal));
  CELLBLOCK_CHECK(add_egress(added.egress, proposal));
  for (const auto& path : added.runtime_paths) {
    propose_path(path, PathUse::read, "its runtime", machine, proposal);
  }
  CELLBLOCK_CHECK(refuse_gaps(proposal));
  proposal.steps.clear();
  proposal.users = added.users;
  proposal.tools = {"*"};
  return proposal;
}

Result<Proposal> added_proposal(const AddedServer& added, const std::optional<Recipe>& recipe,
                                const MachineView& machine, const Places& places) {
  auto all = CELLBLOCK_TRY(propose_all({added.declared}, machine, places));
  auto proposal = std::move(all.front());
  CELLBLOCK_CHECK(refuse_gaps(proposal));
  if (recipe) follow(*recipe, proposal);
  return with_requested_access(added, machine, std::move(proposal));
}

}  // namespace cellblock::cli
