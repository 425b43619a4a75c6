#include "client/cli/add/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "client/cli/common/installation.h"
#include "client/cli/import/bounded_file.h"
#include "client/cli/import/input_json.h"
#include "client/cli/import/members.h"
#include "client/cli/terminal/terminal_text.h"

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

// "@scope/name" has a file of its own too.
std::string file_for(const std::string& package) {
  auto name = package;
  std::ranges::replace(name, '/', '+');
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

}  // namespace cellblock::cli
