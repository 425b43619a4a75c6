#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "policy/failures/failure.h"
#include "supervisor/gateway/search/listed_tools.h"
#include "supervisor/gateway/search/search_tools.h"

/// What cellblock_find_tools is asked, and what it answers.
namespace cellblock::gateway {

// Hosts hand a result to the model whole: so much of definitions leaves room for what it is for.
inline constexpr std::size_t max_found_bytes = 24U << 10;       ///< of all definitions
inline constexpr std::size_t max_first_bytes = 64U << 10;       ///< of the best one, alone
inline constexpr std::size_t max_found_description = 2U << 10;  ///< bytes; the rest is cut off

struct FindRequest {
  std::string words;
  std::size_t limit = default_find_limit;
};

/// `params`: of the tools/call, raw. An error: invalid_arguments.
std::expected<FindRequest, Failure> read_find(std::string_view params);

/// The result of the call, raw: `structuredContent`, and the same as text.
///
///     {"tools": [{"name", "description", "inputSchema", "annotations"}], "searched": 303}
///
/// A definition that has no room is there with its name and `definition_bytes` alone. `is_cut`:
/// there is more than was taken, or than is ranked. Of all servers, `unavailable` names those whose
/// tools are not known.
enum class ListOf : std::uint8_t { one_server, all_servers };
std::string find_result(const FindRequest& request, const ListedTools& listed, ListOf of, Era era);

}  // namespace cellblock::gateway
