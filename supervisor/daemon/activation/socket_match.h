#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"

/// Whether a socket that somebody else has made is the one that the configuration describes.
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

/// Also its mode, owner and group: who may connect is what the configuration says, and not a second
/// word of a unit's that nobody compares with the first. Any group will do where the mode gives a
/// group what it gives everybody.
Result<void> match_socket(const SocketFacts& socket, const Config& config);

}  // namespace cellblock::daemon
