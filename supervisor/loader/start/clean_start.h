#pragma once

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Makes this process independent of how it was started: closes the descriptors beyond stderr and
/// the `kept` ones that follow it, opens 0 to 2 where they are closed, raises the limit of
/// descriptors to the hard one, sets umask 077, changes to `/`, and ignores SIGPIPE. Resolve
/// relative paths before.
Result<void> clean_start(unsigned kept);

}  // namespace cellblock::daemon
