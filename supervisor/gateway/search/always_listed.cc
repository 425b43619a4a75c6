#include "supervisor/gateway/search/always_listed.h"

#include <algorithm>

#include "supervisor/gateway/aggregate/public_name.h"

namespace cellblock::gateway {
namespace {

bool is_named_so(const NamePattern& pattern, std::string_view name) {
  return pattern.is_prefix ? name.starts_with(pattern.text) : name == pattern.text;
}

bool is_shown_so(const Server& server, const NamePattern& pattern, std::string_view shown) {
  const auto plain = split_plain_name(shown);
  if (plain) return plain->server == server.name && is_named_so(pattern, plain->original);
  return !pattern.is_prefix && public_name(server.name, pattern.text) == shown;
}

}  // namespace

bool is_always_listed(const Server& server, std::string_view name) {
  return std::ranges::any_of(server.always_listed, [name](const NamePattern& pattern) {
    return is_named_so(pattern, name);
  });
}

bool is_always_listed(const Config& config, std::string_view shown) {
  return std::ranges::any_of(config.servers, [shown](const Server& server) {
    return std::ranges::any_of(server.always_listed, [&](const NamePattern& pattern) {
      return is_shown_so(server, pattern, shown);
    });
  });
}

std::vector<std::string> servers_in(const ListedTools& listed) {
  std::vector<std::string> servers;
  for (const ListedDefinition& tool : listed.tools()) {
    const auto plain = split_plain_name(tool.document.name);
    const bool is_next = plain && (servers.empty() || servers.back() != plain->server);
    if (is_next) servers.emplace_back(plain->server);
  }
  return servers;
}

}  // namespace cellblock::gateway
