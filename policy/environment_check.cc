#include "policy/environment_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "policy/environment_rules.h"
#include "policy/path_rules.h"

namespace cellblock {
namespace {

constexpr std::size_t most_variables = 256;
constexpr std::size_t longest_value = 64U << 10;

bool check_name(const Scope& scope, const TextAt& name) {
  if (!is_variable_name(name.value)) {
    scope.error(name.at, name.value,
                "is no variable name; allowed: [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes");
    return false;
  }
  if (auto problem = variable_problem(name.value)) {
    scope.error(name.at, name.value, fmt::format("{}; allowed: other variables", *problem));
    return false;
  }
  return true;
}

bool check_value(const Scope& scope, const VariableText& variable) {
  const std::string& value = variable.value.value;
  if (value.find('\0') == std::string::npos && value.size() <= longest_value) return true;
  scope.error(variable.value.at, variable.name.value,
              "is too long or has a NUL in it; allowed: at most 64KiB of any other bytes");
  return false;
}

bool too_many(const Scope& scope, Place at, std::size_t count) {
  if (count <= most_variables) return false;
  scope.error(at, "", fmt::format("{} variables; allowed: at most {}", count, most_variables));
  return true;
}

bool is_in_env(const ServerText& text, std::string_view name) {
  return std::ranges::any_of(
      text.env, [&](const VariableText& variable) { return variable.name.value == name; });
}

bool check_secret_file(const Scope& scope, const VariableText& variable, const HostFacts& facts) {
  std::string path;
  check_path(scope, variable.name.value,
             Located<std::string>{variable.value.value, variable.value.at}, path);
  if (path.empty()) return false;
  const auto bad = facts.bad_secrets.find(path);
  if (bad == facts.bad_secrets.end()) return true;
  scope.error(
      variable.value.at, variable.name.value,
      fmt::format("\"{}\" {}; allowed: a file of root's (or, rootless, yours) with mode 0600 "
                  "or 0400",
                  path, bad->second));
  return false;
}

}  // namespace

std::vector<EnvironmentVariable> check_environment(const Scope& scope, const ServerText& text) {
  std::vector<EnvironmentVariable> environment;
  const Scope here = scope.below("env");
  if (too_many(here, text.name.at, text.env.size())) return environment;
  for (const VariableText& variable : text.env) {
    if (check_name(here, variable.name) && check_value(here, variable)) {
      environment.push_back({variable.name.value, variable.value.value});
    }
  }
  return environment;
}

std::vector<SecretVariable> check_secrets(const Scope& scope, const ServerText& text,
                                          const HostFacts& facts) {
  std::vector<SecretVariable> secrets;
  const Scope here = scope.below("env_from_file");
  if (too_many(here, text.name.at, text.env_from_file.size())) return secrets;
  for (const VariableText& variable : text.env_from_file) {
    if (!check_name(here, variable.name)) continue;
    if (is_in_env(text, variable.name.value)) {
      here.error(variable.name.at, variable.name.value,
                 "stands under env as well; allowed: each variable once");
    } else if (check_secret_file(here, variable, facts)) {
      secrets.push_back({variable.name.value, variable.value.value});
    }
  }
  return secrets;
}

}  // namespace cellblock
