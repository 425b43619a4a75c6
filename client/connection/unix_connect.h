#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cellblock/error.h"
#include "client/connection/fd.h"

/// Opens a connection to the daemon, and proves who listens before a byte is sent.
namespace cellblock::client {

// Whether the process behind a socket is trusted. A Unix socket's path does not tell who listens:
// in a directory that other users can write, any of them can listen first and take every argument
// and secret that a host sends.

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

/// Trusted are root, the calling user, and a listener that only root or the calling user can have
/// admitted: every directory on the way belongs to root or the caller and only its owner can write
/// it, or the last one is the listener's own and all above it are like that. (A sticky directory
/// such as /tmp may lie on the way: other users cannot replace what root or the caller owns in it.)
/// Empty if trusted, else the reason as a sentence.
std::string distrust(const ListenerFacts& facts);

/// Whether a later attempt may succeed without any change by the user.
bool may_pass(ErrorCode code);

/// The value of CELLBLOCK_SOCKET; empty without it.
std::string named_socket_path();

std::string system_socket_path();

/// Empty without XDG_RUNTIME_DIR.
std::string user_socket_path();

/// The path that is really connected to: links are resolved, so that the path that was checked is
/// the one that is reached.
Result<std::string> resolve_socket(const std::string& path);

/// One attempt, which never blocks. No value: the backlog is full; the caller tries again later.
Result<std::optional<OwnedFd>> try_connect(const std::string& resolved_path);

/// How long to wait before attempt `attempt` (from 1), or none to give up: about two seconds in
/// all.
std::optional<std::chrono::milliseconds> connect_backoff(unsigned attempt);

/// The error for a backlog that stayed full.
Error backlog_full(const std::string& path);

/// All of the above for a caller that may wait.
Result<OwnedFd> connect_blocking(const std::string& path);

}  // namespace cellblock::client
