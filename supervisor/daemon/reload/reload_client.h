#pragma once

#include "supervisor/daemon/start/options.h"

namespace cellblock::daemon {

/// Where whoever starts `cellblockd --reload` has connected to the daemon
/// (`<socket>.admin.reload`).
inline constexpr int reload_socket = 3;

/// Reads the files with the rights of whoever runs it, merges them with what the daemon uses, and
/// brings it the result: the exit code. A daemon that runs has given up the rights to read them.
int ask_for_reload(const Options& options);

}  // namespace cellblock::daemon
