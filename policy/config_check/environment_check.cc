#include "policy/config_check/environment_check.h"

#include <fmt/format.h>

#include <cstddef>

#include "policy/base/printable.h"
#include "policy/sandbox/client_placeholders.h"
#include "policy/sandbox/environment_rules.h"

namespace cellblock {
namespace {

constexpr std::size_t most_variables = 256;
constexpr std::size_t longest_value = 64U << 10;

bool check_placeholders(const Scope& scope, const VariableText& variable) {
  const auto unknown = unknown_placeholder(variable.value.value);
  if (!unknown) return true;
  scope.error(variable.value.at, variable.name.value,
              fmt::format("\"{}\" is not known to this version; allowed: \"${{client.user}}\", "
                          "\"${{client.uid}}\", or \"$${{\" for the characters themselves",
                          printable(*unknown)));
  return false;
}

bool check_value(const Scope& scope, const VariableText& variable) {
  const std::string& value = variable.value.value;
  if (value.find('\0') == std::string::npos && value.size() <= longest_value) {
    return check_placeholders(scope, variable);
  }
  scope.error(variable.value.at, variable.name.value,
              "is too long or has a NUL in it; allowed: at most 64KiB of any other bytes");
  return false;
}

bool too_many(const Scope& scope, Place at, std::size_t count) {
  if (count <= most_variables) return false;
  scope.error(at, "", fmt::format("{} variables; allowed: at most {}", count, most_variables));
  return true;
}

}  // namespace

bool check_variable_name(const Scope& scope, const TextAt& name) {
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

std::vector<EnvironmentVariable> check_environment(const Scope& scope, const ServerText& text) {
  std::vector<EnvironmentVariable> environment;
  const Scope here = scope.below("env");
  if (too_many(here, text.name.at, text.env.size())) return environment;
  for (const VariableText& variable : text.env) {
    if (check_variable_name(here, variable.name) && check_value(here, variable)) {
      environment.push_back({variable.name.value, variable.value.value});
    }
  }
  return environment;
}

}  // namespace cellblock
