#pragma once

#include "client/cli/table/command.h"

/// What a machine lacks for cells.
namespace cellblock::cli {

Command doctor_command();

}  // namespace cellblock::cli
