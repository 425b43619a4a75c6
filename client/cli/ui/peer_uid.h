#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <optional>
#include <string_view>

/// Which user is at the other end of a connection, as the kernel says.
namespace cellblock::cli::ui {

/// A TCP connection over the loopback, 127.0.0.0/8.
struct LoopbackPair {
  sockaddr_in theirs{};  ///< where the peer connected from
  sockaddr_in ours{};
};

/// The owner of the peer's socket in `table`, the text of /proc/net/tcp. nullopt: not found. Pure.
std::optional<uid_t> owner_in(std::string_view table, const LoopbackPair& pair);

/// The uid of a connected socket's peer, TCP over the loopback or Unix. nullopt: not known, so the
/// peer is refused.
std::optional<uid_t> peer_uid(int socket);

}  // namespace cellblock::cli::ui
