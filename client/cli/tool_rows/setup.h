#pragma once

#include "client/cli/table/command.h"

/// A new user's way from nothing to servers that hosts use.
namespace cellblock::cli {

extern const Option setup_without_asking;

Command setup_command();

}  // namespace cellblock::cli
