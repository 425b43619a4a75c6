#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Two definitions side by side, for a person to decide about.
namespace cellblock {

struct DiffLine {
  enum class Side : std::uint8_t { both, was, is };
  Side side{};
  std::string text;  ///< printable: what a reader would not see is written out
  bool operator==(const DiffLine&) const = default;
};

/// Canonical definitions (definition.h) as lines: texts by their own line ends, a schema by its
/// members. An empty one has no lines. At most `most` lines, of which those that are alike far from
/// any difference are left out ("…").
std::vector<DiffLine> definition_diff(std::string_view was, std::string_view is,
                                      std::size_t most = 2'000);

}  // namespace cellblock
