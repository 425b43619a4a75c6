#include "client/cli/add/added_proposal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "client/cli/import/propose/propose.h"
#include "client/cli/import/propose/proposed_paths.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/import/read/container_run.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/input_json.h"
#include "client/cli/programs/installation.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/egress/egress_rule.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using Ordered = nlohmann::ordered_json;

constexpr std::array<std::string_view, 9> known_keys = {"package",   "paths",   "needs",
                                                        "egress",    "secrets", "variables",
                                                        "arguments", "profile", "limits"};

Result<std::vector<std::pair<std::string, std::string>>> pairs_of(const Ordered& table,
                                                                  const char* name) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (auto& one : CELLBLOCK_TRY(variables_member(table, name))) {
    pairs.emplace_back(std::move(one.name), std::move(one.value));
  }
  return pairs;
}

Result<void> refuse_unknown_keys(const Ordered& table) {
  for (const auto& [key, value] : table.items()) {
    if (std::ranges::find(known_keys, key) == known_keys.end()) {
      return fail(fmt::format("\"{}\" is no key of a recipe", safe_line(key)));
    }
  }
  return {};
}

// "@scope/name" has a file of its own too, and so has "https://host".
std::string file_for(const std::string& package) {
  auto name = package;
  std::ranges::replace_if(name, [](char byte) { return byte == '/' || byte == ':'; }, '+');
  return name + ".toml";
}

bool has_variable(const Proposal& proposal, const std::string& name) {
  const auto is_it = [&](const auto& one) { return one.first == name; };
  return std::ranges::any_of(proposal.variables, is_it) ||
         std::ranges::find(proposal.secrets, name, &ProposedSecret::variable) !=
             proposal.secrets.end();
}

void give_write(Proposal& proposal) {
  std::ranges::move(proposal.read, std::back_inserter(proposal.write));
  proposal.read.clear();
}

}  // namespace

Result<Recipe> read_recipe(const std::string& text) {
  const auto table = CELLBLOCK_TRY(json_of_toml(text));
  CELLBLOCK_CHECK(refuse_unknown_keys(table));
  Recipe recipe;
  recipe.package = CELLBLOCK_TRY(text_member(table, "package"));
  if (recipe.package.empty()) return fail("\"package\" is missing");
  const auto paths = CELLBLOCK_TRY(text_member(table, "paths"));
  if (!paths.empty() && paths != "read" && paths != "write") {
    return fail("\"paths\" is neither \"read\" nor \"write\"");
  }
  recipe.writes_paths = paths == "write";
  recipe.needs = CELLBLOCK_TRY(text_member(table, "needs"));
  recipe.egress = CELLBLOCK_TRY(texts_member(table, "egress"));
  recipe.secrets = CELLBLOCK_TRY(texts_member(table, "secrets"));
  recipe.variables = CELLBLOCK_TRY(pairs_of(table, "variables"));
  recipe.arguments = CELLBLOCK_TRY(texts_member(table, "arguments"));
  recipe.profile = CELLBLOCK_TRY(text_member(table, "profile"));
  recipe.limits = CELLBLOCK_TRY(pairs_of(table, "limits"));
  return recipe;
}

std::string missing_recipes() {
  const auto directory = own_installation().recipes;
  std::error_code ignored;
  if (fs::is_directory(directory, ignored)) return {};
  return fmt::format(
      "{} is not there: what known packages need (network, paths) is not filled in; "
      "install cellblock with its data",
      directory);
}

Result<std::optional<Recipe>> recipe_for(const std::string& package) {
  const auto path = fs::path(own_installation().recipes) / file_for(package);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  const auto text = CELLBLOCK_TRY(bounded_file(path.string(), max_import_bytes));
  auto recipe = read_recipe(text);
  if (!recipe) return fail(fmt::format("{}: {}", path.string(), recipe.error().text));
  if (recipe->package != package) {
    return fail(fmt::format("{}: it is the recipe of {}", path.string(), recipe->package));
  }
  return std::optional<Recipe>(*std::move(recipe));
}

Result<void> check_arguments(const Recipe& recipe, const std::vector<std::string>& arguments) {
  if (recipe.needs.empty() || !arguments.empty()) return {};
  return fail(fmt::format("it needs {}, behind the package's name: ... {} ~/project", recipe.needs,
                          safe_line(recipe.package)));
}

std::string missing_secrets(const Recipe& recipe, const std::vector<DeclaredVariable>& given) {
  std::string missing;
  for (const auto& name : recipe.secrets) {
    const auto found = std::ranges::find(given, name, &DeclaredVariable::name);
    if (found == given.end() || found->value.empty()) missing += " --env " + name;
  }
  return missing;
}

void follow(const Recipe& recipe, Proposal& proposal) {
  if (recipe.writes_paths) give_write(proposal);
  for (const auto& rule : recipe.egress) {
    if (std::ranges::find(proposal.domains, rule) == proposal.domains.end()) {
      proposal.domains.push_back(rule);
    }
  }
  for (const auto& [name, value] : recipe.variables) {
    if (!has_variable(proposal, name)) proposal.variables.emplace_back(name, value);
  }
  if (!recipe.profile.empty()) proposal.profile = recipe.profile;
  for (const auto& limit : recipe.limits) proposal.limits.push_back(limit);
  // Behind the program and its script.
  constexpr std::ptrdiff_t program_words = 2;
  const auto at = std::min<std::ptrdiff_t>(program_words, std::ssize(proposal.command));
  proposal.command.insert(proposal.command.begin() + at, recipe.arguments.begin(),
                          recipe.arguments.end());
}

namespace {

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

bool holds(const std::vector<ProposedPath>& entries, const std::string& home) {
  return std::ranges::any_of(entries, [&](const ProposedPath& entry) {
    return entry.path == home || home.starts_with(entry.path + "/");
  });
}

// It holds cellblock's own configuration, and the keys of all else that its user runs.
Result<void> refuse_home(const Proposal& proposal, const std::string& home) {
  if (home.empty() || (!holds(proposal.read, home) && !holds(proposal.write, home))) return {};
  return fail(
      fmt::format("{} is or holds your whole home, with cellblock's configuration and the keys of "
                  "other programs, so no server is given it: name a directory in it, or put the "
                  "server's file into one of its own",
                  safe_line(home)));
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

Result<void> check_relative_paths(const std::vector<std::string>& command,
                                  const std::string& directory, const MachineView& machine) {
  // The options of a container are looked at by themselves.
  const auto container = container_run(command);
  if (!container || *container) return {};
  for (const auto& word : command) {
    if (!word.starts_with("./") && !word.starts_with("../")) continue;
    const auto whole = (fs::path(directory) / word).lexically_normal().string();
    if (machine.kind_of(whole) != PathKind::absent) continue;
    return fail(
        fmt::format("{}: {} is not there, or cannot be seen by you: make it, or name "
                    "another path",
                    safe_line(word), safe_line(whole)));
  }
  return {};
}

Result<void> check_requested_access(const AddedServer& added, const MachineView& machine) {
  Proposal requested;
  const auto& words = added.declared.command;
  if (!added.home.empty() && std::ranges::find(words, added.home) != words.end()) {
    requested.read.push_back({.path = added.home, .note = "named", .is_there = true});
  }
  CELLBLOCK_CHECK(add_paths(added.write, PathUse::write, machine, requested));
  CELLBLOCK_CHECK(add_paths(added.read, PathUse::read, machine, requested));
  CELLBLOCK_CHECK(add_egress(added.egress, requested));
  CELLBLOCK_CHECK(refuse_home(requested, added.home));
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
  CELLBLOCK_CHECK(refuse_home(proposal, added.home));
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
