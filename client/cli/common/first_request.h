#pragma once

#include "cellblock/error.h"
#include "client/cli/terminal/stdio.h"

namespace cellblock::cli {

/// A host that only reads its server's stdout learns why there is none: its first requests are
/// answered with this error, up to `initialize`. Returns when that is done, at end of input, or at
/// the deadline.
void answer_first_request(int in, int out, const client::Error& error, Deadline deadline);

}  // namespace cellblock::cli
