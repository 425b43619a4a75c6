#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// What of a tool's definition is searched.
namespace cellblock {

inline constexpr std::size_t max_searched_description = 8U << 10;  ///< bytes, of one tool
inline constexpr std::size_t max_searched_parameters = 8U << 10;   ///< likewise, of all of them
inline constexpr std::size_t max_searched_parameter_count = 128;

struct ToolDocument {
  std::string name;
  std::string title;
  std::string description;  ///< its beginning
  std::string parameters;   ///< names and descriptions of those at the top
};

/// `definition`: raw JSON of an element of tools/list, validated. Untrusted text: what is over the
/// bounds is not searched. Without a name that is a string, the document is empty.
ToolDocument tool_document(std::string_view definition);

}  // namespace cellblock
