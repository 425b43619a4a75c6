#pragma once

#include "client/cli/table/command.h"

/// What a server's declaration lacks.
namespace cellblock::cli {

extern const Option session_words;

Command learn_command();

}  // namespace cellblock::cli
