#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

/// Which user is at the other end of a connection, as the kernel says.
namespace cellblock::cli::ui {

/// A TCP connection over 127.0.0.1.
struct LoopbackPair {
  std::uint16_t theirs = 0;  ///< the port that the peer connected from
  std::uint16_t ours = 0;
};

/// The owner of the peer's socket, out of /proc/net/tcp. nullopt: it is not there. Pure.
std::optional<uid_t> owner_in(std::string_view table, const LoopbackPair& pair);

/// Of a connected socket, TCP over 127.0.0.1 or Unix. nullopt: nobody knows, so it is nobody.
std::optional<uid_t> peer_uid(int socket);

}  // namespace cellblock::cli::ui
