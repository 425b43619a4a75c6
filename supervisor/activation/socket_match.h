#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// Decides whether a socket that the service manager made is the one that the configuration
/// describes.
namespace cellblock::daemon {

struct SocketFile {
  bool is_socket = false;
  std::uint32_t mode = 0;  ///< permission bits
  std::uint32_t owner = 0;
  std::uint32_t group = 0;
};

struct SocketFacts {
  bool is_unix_stream = false;
  bool listens = false;
  std::string path;                ///< empty: none, or an abstract name
  std::optional<SocketFile> file;  ///< at that path
};

/// Compares mode, owner and group too: the configuration says who may connect, and a unit must not
/// say otherwise. Any group is accepted where the mode gives the group no more than all users.
Result<void> match_socket(const SocketFacts& socket, const Config& config);

}  // namespace cellblock::daemon
