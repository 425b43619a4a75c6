#include "supervisor/gateway/message/revisions.h"

#include <algorithm>

#include "policy/mcp/revisions.h"

namespace cellblock::gateway {

std::string_view answer_to_version(std::string_view asked) {
  const auto found = std::ranges::find(mcp::legacy_revisions, asked);
  return found == mcp::legacy_revisions.end() ? mcp::newest_legacy : *found;
}

std::optional<std::string> legacy_among_supported(const Json& error) {
  const Json* data = member(error, "data");
  const Json* supported = data == nullptr ? nullptr : member(*data, "supported");
  if (supported == nullptr || !supported->is_array()) return std::nullopt;
  std::string newest;
  for (const Json& version : *supported) {
    if (!version.is_string() || !mcp::is_legacy_revision(version.get<std::string>())) continue;
    newest = std::max(newest, version.get<std::string>());
  }
  return newest.empty() ? std::nullopt : std::optional(newest);
}

}  // namespace cellblock::gateway
