#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/propose/machine_view.h"

/// Paths that a server could not reach: as its messages say, and which of them would be declared.
namespace cellblock::cli {

enum class PathWish : std::uint8_t { read, write };

struct SaidPath {
  std::string path;  ///< absolute and plain: no "..", nothing that is not printable
  PathWish wish = PathWish::read;

  bool operator==(const SaidPath&) const = default;
};

/// The paths that a line of output says could not be reached: "ENOENT: no such file or directory,
/// open '/srv/data'". At most four; none of a line that tells of no such failure. The line is
/// untrusted. Pure.
std::vector<SaidPath> said_paths(std::string_view line);

/// A path that could not be reached as output says, and how often it says so.
struct MissedPath {
  SaidPath said;
  std::uint64_t count = 0;
};

/// What a server may use already.
struct DeclaredPath {
  std::string path;  ///< as the cell sees it
  PathWish wish = PathWish::read;
  bool holds_program = false;  ///< the server's own, or the script that it runs
};

struct LearnedPath {
  std::string path;
  PathWish wish = PathWish::read;
  std::uint64_t count = 0;  ///< how often it, or what is below it, was missed
  std::size_t paths = 1;    ///< how many different ones that were
  std::string warning;      ///< why it is not advised; empty: it is
};

/// The narrowest entries of `read` and `write` that would give these: a file by itself, a directory
/// where many of its files are missed. What every cell has and what is not on this machine is left
/// out. Never advised: what looks like somebody's secrets, sockets, whole trees such as a home, and
/// to write beside the server's own program or into an installed package, which check refuses.
/// By path. Pure.
std::vector<LearnedPath> learned_paths(
    const std::vector<MissedPath>& missed, const std::vector<DeclaredPath>& declared,
    const std::function<PathKind(const std::string& path)>& kind_of);

}  // namespace cellblock::cli
