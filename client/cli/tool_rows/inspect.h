#pragma once

#include "client/cli/table/command.h"

/// Servers, looked at by hand.
namespace cellblock::cli {

extern const Option inspect_words;
extern const Option inspects_all;
extern const Option frames_option;
extern const Option timings_option;
extern const Option era_option;

Command inspect_command();

}  // namespace cellblock::cli
