#include "policy/permission.h"

#include <algorithm>

namespace cellblock {
namespace {

bool contains(std::span<const std::uint32_t> ids, std::uint32_t id) {
  return std::ranges::find(ids, id) != ids.end();
}

bool matches(const ToolPattern& pattern, std::string_view tool) {
  return pattern.is_prefix ? tool.starts_with(pattern.text) : tool == pattern.text;
}

constexpr Decision denied{false, "default"};

}  // namespace

Decision may_use_server(const Allow& allow, const Identified& who) {
  if (contains(allow.uids, who.uid)) return {true, "allow.users"};
  if (contains(allow.gids, who.gid)) return {true, "allow.groups"};
  const auto allowed_group = [&](std::uint32_t gid) { return contains(allow.gids, gid); };
  if (std::ranges::any_of(who.groups, allowed_group)) return {true, "allow.groups"};
  return denied;
}

ServerSet servers_for(std::span<const Server> servers, const Identified& who) {
  ServerSet permitted;
  for (std::size_t i = 0; i < servers.size() && i < max_servers; ++i) {
    if (may_use_server(servers[i].allow, who).allowed) permitted.add(i);
  }
  return permitted;
}

Decision may_call_tool(const Allow& allow, std::string_view tool) {
  const auto matching = [&](const ToolPattern& pattern) { return matches(pattern, tool); };
  if (std::ranges::any_of(allow.tools, matching)) return {true, "allow.tools"};
  return denied;
}

}  // namespace cellblock
