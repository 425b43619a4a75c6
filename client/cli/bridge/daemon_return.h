#pragma once

#include <string>

#include "cellblock/error.h"
#include "client/cli/terminal/stdio.h"
#include "client/connection/fd.h"

/// A daemon that said it would end, and may come back: upgraded, or with another configuration.
namespace cellblock::cli {

/// How long a bridge waits for it, with its host's descriptors open and unread.
inline constexpr std::chrono::seconds return_time{120};

/// Tries to connect until a daemon answers, the host is gone (`cancelled`), or the deadline has
/// passed (what went wrong last).
client::Result<client::OwnedFd> connect_when_back(const std::string& path, Deadline deadline);

/// For so long, or until the host is gone: then false.
bool host_stays(std::chrono::milliseconds time);

}  // namespace cellblock::cli
