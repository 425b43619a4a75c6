#pragma once

#include "client/cli/table/command.h"

/// The end of what a daemon keeps about its users.
namespace cellblock::cli {

extern const Option purge_user_data;

Command purge_command();

}  // namespace cellblock::cli
