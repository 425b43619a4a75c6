#pragma once

#include "supervisor/loader/start/options.h"

namespace cellblock::daemon {

/// The descriptor of the connection to the daemon (`<socket>.admin.reload`), which the parent of
/// `cellblockd --reload` has made.
inline constexpr int reload_socket = 3;

/// Reads the configuration with the caller's rights, merges it with the daemon's, and sends the
/// daemon the result: a running daemon has given up the rights to read the files. Returns the exit
/// code.
int ask_for_reload(const Options& options);

}  // namespace cellblock::daemon
