#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Decides whether the process behind a socket may be spoken to. A Unix socket's path says nothing
/// about who listens: in a directory that others can write, anybody can listen first and take every
/// argument and secret that a host sends.
namespace cellblock::client {

/// A directory on the way to the socket, from / down.
struct DirectoryFacts {
  std::string path;
  std::uint32_t owner = 0;
  std::uint32_t mode = 0;  ///< permission bits, the sticky bit included
};

struct ListenerFacts {
  std::uint32_t listener = 0;               ///< who called listen(): SO_PEERCRED
  std::uint32_t self = 0;                   ///< our own effective uid
  std::vector<DirectoryFacts> directories;  ///< at least "/"; the last holds the socket
};

/// Trusted: root; ourselves; and whoever listens where only root or we can have let him: every
/// directory on the way belongs to root or us and only its owner can write it, or the last one is
/// the listener's own and all above it are like that. (A sticky directory such as /tmp may lie on
/// the way: what root or we own in there nobody else can replace.)
/// Empty if trusted, else the reason as a sentence.
std::string distrust(const ListenerFacts& facts);

}  // namespace cellblock::client
