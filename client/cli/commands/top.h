#pragma once

#include "client/cli/common/context.h"
#include "client/cli/table/words.h"

/// `cellblock status --watch`, and `cellblock top` as it was called.
namespace cellblock::cli {

extern const Option interval_option;
extern const Option sort_option;
extern const Option once_option;

/// Of the server that is named, or of all. Fills the terminal until it is told to end.
Exit run_top(const Context& context, const Words& words);

}  // namespace cellblock::cli
