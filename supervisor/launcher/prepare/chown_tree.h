#pragma once

#include "supervisor/launcher/prepare/cell_identity.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// Gives a directory and what is below it to `to`, the directory itself last: so one that was not
/// finished is taken up again at the next start.
///
/// What lies there was written by others, who may still be changing it: each thing is opened
/// without following a link and changed by its descriptor, inside one file system. Only what
/// belongs to the directory's owner so far changes hands, and of a file with several names only
/// one all of whose names are below the directory: else a name that was put there would fetch a
/// file from elsewhere. E2BIG beyond 20 000 entries, ELOOP beyond 128 levels.
SysResult<void> chown_tree(int directory, const HostIds& to);

}  // namespace cellblock::launcher
