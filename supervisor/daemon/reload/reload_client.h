#pragma once

#include "supervisor/daemon/start/options.h"

namespace cellblock::daemon {

/// The descriptor of the connection to the daemon (`<socket>.admin.reload`), which the starter of
/// `cellblockd --reload` has made.
inline constexpr int reload_socket = 3;

/// Reads the files with the rights of its caller, merges them with what the daemon uses, and sends
/// it the result. Returns the exit code. A running daemon has given up the rights to read them.
int ask_for_reload(const Options& options);

}  // namespace cellblock::daemon
