#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cellblock/error.h"
#include "client/connection/fd.h"

/// Opens a connection to the daemon, and proves who listens before a byte is sent.
namespace cellblock::client {

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
