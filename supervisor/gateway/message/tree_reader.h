#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// The only way from a peer's text to a tree. nlohmann's own parser looks through all members of an
/// ordered object for each that it adds: a line with 80,000 of them takes it 20 s.
namespace cellblock::gateway {

/// More than any message has (max_message_depth), and what is kept of one.
inline constexpr unsigned max_tree_depth = 128;

/// Discarded (`is_discarded()`) where it is no JSON or too deep. Duplicate keys stay: a message
/// with such is refused when it is scanned. Time in proportion to the text. A number that a double
/// is not, or is not written as, is there as it was written: of type binary, for write_tree().
nlohmann::ordered_json read_tree(std::string_view text);

/// What a raw JSON string says, unescaped; empty for anything else.
std::string read_string(std::string_view raw);

}  // namespace cellblock::gateway
