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

// Whether the process behind a socket is trusted. A Unix socket's path does not say who listens: in
// a directory that others can write, anybody can listen first and take every argument and secret
// that a host sends.

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

/// Whether the same may go well later, with nobody having done anything about it.
bool may_pass(ErrorCode code);

/// From CELLBLOCK_SOCKET; empty without it.
std::string named_socket_path();

std::string system_socket_path();

/// Empty without XDG_RUNTIME_DIR.
std::string user_socket_path();

/// Where connect really goes: links resolved, so that what was checked is what was reached.
Result<std::string> resolve_socket(const std::string& path);

/// One attempt, which never blocks. No value: the backlog is full, try again after a while.
Result<std::optional<OwnedFd>> try_connect(const std::string& resolved_path);

/// How long to wait before attempt `attempt` (from 1), or none to give up: about two seconds in
/// all.
std::optional<std::chrono::milliseconds> connect_backoff(unsigned attempt);

/// The error for a backlog that stayed full.
Error backlog_full(const std::string& path);

/// All of the above for a caller that may wait.
Result<OwnedFd> connect_blocking(const std::string& path);

}  // namespace cellblock::client
