#include "supervisor/gateway/era/revisions.h"

#include <algorithm>
#include <array>

namespace cellblock::gateway {

namespace {
constexpr std::array<std::string_view, 4> legacy_revisions = {"2024-11-05", first_with_audio,
                                                              first_with_links, newest_legacy};
}

bool is_legacy_revision(std::string_view version) {
  return std::ranges::find(legacy_revisions, version) != legacy_revisions.end();
}

std::string_view answer_to_version(std::string_view asked) {
  const auto found = std::ranges::find(legacy_revisions, asked);
  return found == legacy_revisions.end() ? newest_legacy : *found;
}

std::optional<std::string> legacy_among_supported(const Json& error) {
  const Json* data = member(error, "data");
  const Json* supported = data == nullptr ? nullptr : member(*data, "supported");
  if (supported == nullptr || !supported->is_array()) return std::nullopt;
  std::string newest;
  for (const Json& version : *supported) {
    if (!version.is_string() || !is_legacy_revision(version.get<std::string>())) continue;
    newest = std::max(newest, version.get<std::string>());
  }
  return newest.empty() ? std::nullopt : std::optional(newest);
}

}  // namespace cellblock::gateway
