#pragma once

#include "client/cli/table/command.h"

/// A host's line as it stands.
namespace cellblock::cli {

extern const Option started_line;

Command run_command();

}  // namespace cellblock::cli
