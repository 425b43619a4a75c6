#pragma once

#include <cstdint>
#include <string>

/// What cells see of the host's files, as it is declared and as it was found.
namespace cellblock {

enum class Access : std::uint8_t { read, write };

/// One directory or file of the host that the cell sees. Both paths are absolute and normalised.
struct Bind {
  std::string source;
  std::string target;
  Access access = Access::read;
  bool operator==(const Bind&) const = default;
};

/// What was found at a server's paths when the configuration was read.
struct PathFindings {
  /// Somebody besides root and the daemon can move or replace one of them. What is missing there
  /// breaks this server alone.
  bool others_can_change = false;
  std::string broken;  ///< why no cell of it can be made; empty: nothing is known against it
  bool operator==(const PathFindings&) const = default;
};

}  // namespace cellblock
