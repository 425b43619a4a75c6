#pragma once

#include <string>

#include "cellblock/types.h"
#include "client/connection/fd.h"

namespace cellblock::client {

/// Opens with O_PATH: the descriptor alone gives no right to read or search the directory.
Result<OwnedFd> open_workspace(const std::string& path);

/// What goes along with an attach; not valid: nothing does. A descriptor of the caller's is
/// duplicated, so that he may close his at once.
Result<OwnedFd> workspace_of(const AttachOptions& options);

/// Not valid where there is nothing to copy, or no descriptor left.
OwnedFd copy_of(const OwnedFd& directory);

}  // namespace cellblock::client
