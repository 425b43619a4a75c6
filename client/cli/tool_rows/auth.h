#pragma once

#include "client/cli/table/command.h"

/// Remote servers that a person has to allow.
namespace cellblock::cli {

extern const Option again_option;
extern const Option forget_option;

Command auth_command();

}  // namespace cellblock::cli
