#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/era/json_tree.h"

/// The revisions of MCP that the bridges know. Their names are dates, so they compare as texts.
namespace cellblock::gateway {

inline constexpr std::string_view newest_legacy = "2025-11-25";
inline constexpr std::string_view modern_revision = "2026-07-28";

inline constexpr std::string_view first_with_audio = "2025-03-26";
inline constexpr std::string_view first_with_links = "2025-06-18";

bool is_legacy_revision(std::string_view version);

/// What `initialize` is answered with: the host's own where it is a legacy one, else the newest.
std::string_view answer_to_version(std::string_view asked);

/// The newest legacy revision of `error.data.supported`; nothing if there is none.
std::optional<std::string> legacy_among_supported(const Json& error);

}  // namespace cellblock::gateway
