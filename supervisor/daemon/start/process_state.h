#pragma once

#include "policy/base/result.h"

namespace cellblock::daemon {

/// Makes nothing of what we were started with matter: descriptors beyond stderr are closed but for
/// the `kept` ones that follow it, 0 to 2 are open, as many may be as the hard limit allows, umask
/// 077, in `/`, SIGPIPE ignored. Relative paths have been resolved before.
Result<void> clean_start(unsigned kept);

}  // namespace cellblock::daemon
