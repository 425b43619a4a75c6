#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cellblock::cli {

enum class PathWish : std::uint8_t { read, write };

struct SaidPath {
  std::string path;  ///< absolute and plain: no "..", nothing that is not printable
  PathWish wish = PathWish::read;

  bool operator==(const SaidPath&) const = default;
};

/// The paths that a line of somebody's output says could not be reached: "ENOENT: no such file or
/// directory, open '/srv/data'". At most four; none of a line that tells of no such failure. What
/// the line says is nobody's word but its writer's. Pure.
std::vector<SaidPath> said_paths(std::string_view line);

}  // namespace cellblock::cli
