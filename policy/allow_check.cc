#include "policy/allow_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace cellblock {
namespace {

// uid_t's last value means "none" to the kernel.
constexpr std::int64_t last_id = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr std::size_t longest_tool_name = 128;
constexpr std::size_t most_entries = 1024;

std::optional<std::uint32_t> number_of(const Scope& scope, std::string_view key,
                                       const Located<IdText>& text) {
  const std::int64_t number = std::get<std::int64_t>(text.value);
  if (number >= 0 && number <= last_id) return static_cast<std::uint32_t>(number);
  scope.error(text.at, key, fmt::format("{} is no id; allowed: 0 to {}", number, last_id));
  return std::nullopt;
}

void add_unique(std::vector<std::uint32_t>& ids, std::uint32_t id) {
  if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
}

// A range of one is the rootless user's own id.
bool is_cell_id(const Identity& identity, std::uint32_t id) {
  if (identity.cell_ids == 1) return false;
  return id >= identity.first_cell_id && id - identity.first_cell_id < identity.cell_ids;
}

using CheckId = std::optional<std::uint32_t> (*)(const Scope&, std::string_view,
                                                 const Located<IdText>&, const HostFacts&);

struct IdListRules {
  std::string_view key;
  CheckId check;
  const Identity& identity;
};

bool too_many(const Scope& scope, std::string_view key, std::size_t count, Place at) {
  if (count <= most_entries) return false;
  scope.error(at, key, fmt::format("has {} entries; allowed: at most {}", count, most_entries));
  return true;
}

std::vector<std::uint32_t> check_ids(const Scope& scope, const IdList& texts,
                                     const IdListRules& rules, const HostFacts& facts) {
  std::vector<std::uint32_t> ids;
  if (!texts.empty() && too_many(scope, rules.key, texts.size(), texts.front().at)) return ids;
  for (const auto& text : texts) {
    const auto id = rules.check(scope, rules.key, text, facts);
    if (!id) continue;
    if (is_cell_id(rules.identity, *id)) {
      scope.error(
          text.at, rules.key,
          fmt::format("{} is in daemon.id_range, which belongs to cells; allowed: users and "
                      "groups of people",
                      *id));
    }
    add_unique(ids, *id);
  }
  return ids;
}

bool is_tool_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '/' || c == '-';
}

std::optional<ToolPattern> parse_tool(std::string_view text) {
  const bool is_prefix = text.ends_with('*');
  const std::string_view name = is_prefix ? text.substr(0, text.size() - 1) : text;
  if (name.size() > longest_tool_name || (name.empty() && !is_prefix)) return std::nullopt;
  if (!std::ranges::all_of(name, is_tool_letter)) return std::nullopt;
  return ToolPattern{std::string(name), is_prefix};
}

std::vector<ToolPattern> check_tools(const Scope& scope, const TextList& texts) {
  std::vector<ToolPattern> tools;
  if (!texts.empty() && too_many(scope, "tools", texts.size(), texts.front().at)) return tools;
  for (const TextAt& text : texts) {
    if (auto tool = parse_tool(text.value)) {
      tools.push_back(std::move(*tool));
    } else {
      scope.error(text.at, "tools",
                  fmt::format("\"{}\" is no tool name; allowed: at most {} of A-Z a-z 0-9 _ . / -, "
                              "with or without one * at the end",
                              text.value, longest_tool_name));
    }
  }
  return tools;
}

}  // namespace

std::optional<std::uint32_t> check_user(const Scope& scope, std::string_view key,
                                        const Located<IdText>& text, const HostFacts& facts) {
  const auto* name = std::get_if<std::string>(&text.value);
  if (name == nullptr) return number_of(scope, key, text);
  const auto found = facts.users.find(*name);
  if (found != facts.users.end()) return found->second.uid;
  scope.error(
      text.at, key,
      fmt::format("there is no user \"{}\" here; allowed: an existing user, or a number", *name));
  return std::nullopt;
}

std::optional<std::uint32_t> check_group(const Scope& scope, std::string_view key,
                                         const Located<IdText>& text, const HostFacts& facts) {
  const auto* name = std::get_if<std::string>(&text.value);
  if (name == nullptr) return number_of(scope, key, text);
  const auto found = facts.groups.find(*name);
  if (found != facts.groups.end()) return found->second;
  scope.error(
      text.at, key,
      fmt::format("there is no group \"{}\" here; allowed: an existing group, or a number", *name));
  return std::nullopt;
}

Allow check_allow(const Scope& scope, const ServerText& text, const Identity& identity,
                  const HostFacts& facts) {
  if (!text.allow) {
    if (scope.mentioned("allow")) return {};  // of the wrong type
    scope.warning(text.name.at, "allow",
                  "is missing, so nobody can use it; allowed: { users = [...], groups = [...], "
                  "tools = [...] }");
    return {};
  }
  const Scope here = scope.below("allow");
  const std::size_t errors_before = scope.complaints.error_count();
  Allow allow;
  allow.uids = check_ids(here, text.allow->users, {"users", check_user, identity}, facts);
  allow.gids = check_ids(here, text.allow->groups, {"groups", check_group, identity}, facts);
  allow.tools = check_tools(here, text.allow->tools);
  if (scope.complaints.error_count() > errors_before) return allow;
  if (allow.uids.empty() && allow.gids.empty()) {
    scope.warning(text.allow->at, "allow", "names no user and no group, so nobody can use it");
  } else if (allow.tools.empty()) {
    scope.warning(text.allow->at, "allow", "names no tools, so none can be called");
  }
  return allow;
}

}  // namespace cellblock
