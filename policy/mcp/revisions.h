#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// The revisions of MCP. Their names are dates, so they compare as texts.
namespace cellblock::mcp {

inline constexpr std::string_view first_with_audio = "2025-03-26";
inline constexpr std::string_view first_with_links = "2025-06-18";
inline constexpr std::string_view newest_legacy = "2025-11-25";
inline constexpr std::string_view modern_revision = "2026-07-28";

/// Oldest first.
inline constexpr std::array<std::string_view, 4> legacy_revisions{"2024-11-05", first_with_audio,
                                                                  first_with_links, newest_legacy};
/// Before the first release; servers that name it speak what that one became.
inline constexpr std::string_view before_release = "2024-10-07";

constexpr bool is_legacy_revision(std::string_view version) {
  return std::ranges::find(legacy_revisions, version) != legacy_revisions.end();
}

}  // namespace cellblock::mcp
