#pragma once

#include <string>

#include "client/cli/common/context.h"
#include "client/cli/inspect/envelope.h"

namespace cellblock::cli {

/// The interactive inspector, until it is told to quit or the connection ends. stdin and stdout are
/// a terminal.
Exit run_console(const Context& context, const InspectRequest& request);

}  // namespace cellblock::cli
