#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Access rules as the configuration has them: values only. rights.h decides by them.
namespace cellblock {

/// Stricter ones are greater: of all that apply to a request, the greatest decides.
enum class Effect : std::uint8_t { allow, ask, deny };

/// The approver of an `ask` rule.
enum class Approver : std::uint8_t {
  admin,  ///< a person apart from the host: on an administrators' socket
  user,   ///< the host's own user, by the host, who could answer in his place
};

/// An exact name, or a beginning (`read_*`). Compared as bytes.
struct NamePattern {
  std::string text;  ///< without the `*`
  bool is_prefix = false;
  bool operator==(const NamePattern&) const = default;
};

enum class ScalarKind : std::uint8_t { text, number, boolean };

/// What an argument is compared with.
struct Scalar {
  ScalarKind kind = ScalarKind::text;
  std::string text;
  double number = 0;
  bool boolean = false;
  bool operator==(const Scalar&) const = default;
};

enum class ConditionKind : std::uint8_t {
  any,     ///< the argument may be there, and be anything
  one_of,  ///< `equals` is one of one
  range,   ///< a number from `min` to `max`, both included
  below,   ///< an absolute path at or below a directory, by its spelling alone
};

/// About one member of a call's arguments.
struct Condition {
  std::string argument;
  ConditionKind kind = ConditionKind::any;
  std::vector<Scalar> one_of;
  std::optional<double> min;
  std::optional<double> max;
  std::string below;
  bool is_optional = false;  ///< a call without the argument is within the condition
  bool operator==(const Condition&) const = default;
};

/// Roles by their index in Config::roles.
using RoleSet = std::uint64_t;
inline constexpr std::size_t max_roles = 64;

struct Role {
  std::string name;
  std::vector<std::uint32_t> uids;
  std::vector<std::uint32_t> gids;
  std::vector<std::string> unknown;  ///< members who are not here: `user "carol"`
  bool operator==(const Role&) const = default;
};

struct Rule {
  std::string name;        ///< its place in the server's table: "allow", or "rule[2]"
  std::uint32_t line = 0;  ///< in the file that declares the server
  Effect effect = Effect::deny;
  Approver approver = Approver::admin;               ///< ask
  std::chrono::milliseconds approval_time{120'000};  ///< ask: then it is refused
  bool binds_everybody = false;
  std::vector<std::uint32_t> uids;
  std::vector<std::uint32_t> gids;
  RoleSet roles = 0;
  bool is_about_everything = false;  ///< the server itself, and all that it has
  std::vector<NamePattern> tools;
  std::vector<NamePattern> resources;  ///< URIs
  std::vector<NamePattern> prompts;
  std::vector<NamePattern> features;  ///< what the server asks of the host: ClientFeatures' names
  std::vector<Condition> arguments;   ///< of tools: all of them must hold
  bool operator==(const Rule&) const = default;
};

/// The short form, `allow = { users, groups, tools }`: what it does not speak of is given whole.
inline Rule short_form(std::vector<std::uint32_t> uids, std::vector<std::uint32_t> gids,
                       std::vector<NamePattern> tools) {
  Rule rule{.name = "allow", .effect = Effect::allow};
  rule.uids = std::move(uids), rule.gids = std::move(gids), rule.tools = std::move(tools);
  rule.resources = rule.prompts = rule.features = {{"", true}};
  return rule;
}

}  // namespace cellblock
