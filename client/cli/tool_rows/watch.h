#pragma once

#include "client/cli/table/command.h"

/// What servers use and do, as it changes.
namespace cellblock::cli {

extern const Option interval_option;
extern const Option sort_option;
extern const Option once_option;

Command top_command();

}  // namespace cellblock::cli
