#pragma once

#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/aggregate/members.h"
#include "supervisor/gateway/aggregate/merged_lists.h"
#include "supervisor/gateway/aggregate/unavailable.h"

/// What the aggregate says of itself: the members of a DiscoverResult that depend on the servers.
namespace cellblock::gateway {

inline constexpr std::size_t max_own_words = 2U << 10;             ///< bytes, of one server
inline constexpr std::size_t max_merged_instructions = 16U << 10;  ///< bytes in all

inline constexpr std::size_t max_missing_named = 32;

/// Which servers are missing and why; then a section for each server that has any, quoted line by
/// line: so that no server can write another's section, or words that look like cellblock's.
std::string merged_instructions(const Members& members, const MergedLists& assortment,
                                const std::vector<Unavailable>& missing);

/// What any of the servers has, as a JSON object. While one is not known it may have anything.
std::string merged_capabilities(const Members& members, const MergedLists& assortment);

}  // namespace cellblock::gateway
