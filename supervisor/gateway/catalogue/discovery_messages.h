#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/gateway/checks/catalogue.h"
#include "supervisor/gateway/checks/list_pages.h"
#include "supervisor/gateway/checks/metadata.h"

/// What a survey says to a server, and what it reads from the answers. Lines are without newline.
namespace cellblock::gateway {

/// A revision of that era that cellblock speaks.
bool is_known_version(Era era, std::string_view version);

std::string discover_request(std::uint64_t id);
std::string initialize_request(std::uint64_t id);
std::string initialized_notification();
std::string list_request(std::uint64_t id, Era era, const ListPages::Page& page);
/// A server's request: `ping` is answered, all else is refused. `id` is raw JSON.
std::string answer_to_server(std::string_view method, std::string_view id);

/// What an error says about the era of a server that was asked server/discover.
enum class EraHint : std::uint8_t {
  none,     ///< a legacy server's way to say that it does not know the method
  modern,   ///< -32022, and 2026-07-28 is among what it speaks
  legacy,   ///< -32022, and it names older revisions only
  unknown,  ///< -32022, and no revision that cellblock knows
};
EraHint era_hint(std::string_view error);

/// The code of a whole `error` object: "-32601", or "?" if it has none. Safe to show.
std::string error_code(std::string_view error);
/// A whole `error` object: "-32603 Internal error", safe to show.
std::string error_text(std::string_view error);

/// Era, version, serverInfo, capabilities and instructions of the result of `server/discover` or
/// `initialize`, cleaned; nullopt: it is none, or of no revision that cellblock knows.
std::optional<Catalogue> read_introduction(Era era, std::string_view result, Findings& findings);

}  // namespace cellblock::gateway
