#pragma once

#include <cstddef>
#include <string_view>

/// Which URIs a resource template (RFC 6570) stands for. Wider than the RFC where it must guess (a
/// list of variables is one gap): it only decides whose resource a URI is.
namespace cellblock::gateway {

// What is over these bounds matches nothing: servers choose templates and URIs, and every URI may
// have to be held against every template.
inline constexpr std::size_t max_template = 2048;     ///< in bytes
inline constexpr std::size_t max_expressions = 8;     ///< of one template
inline constexpr std::size_t max_matched_uri = 2048;  ///< in bytes

/// What holding them against each other may cost at the most, in steps of a byte.
constexpr std::size_t match_effort(std::string_view uri_template, std::string_view uri) {
  return uri_template.size() * (uri.size() + 1);
}

/// What stands before its first expression.
constexpr std::string_view literal_beginning(std::string_view uri_template) {
  return uri_template.substr(0, uri_template.find('{'));
}

bool template_matches(std::string_view uri_template, std::string_view uri);

/// Whether some URI might be of both: what stands before the first expression does not tell them
/// apart.
bool templates_may_overlap(std::string_view one, std::string_view other);

}  // namespace cellblock::gateway
