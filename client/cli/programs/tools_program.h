#pragma once

#include "client/cli/common/context.h"

namespace cellblock::cli {

/// Becomes `cellblock-tools` of the same build, with this program's own words. Returns where that
/// is not there, or is of another build: the error has been told.
Exit execute_tools(const Context& context);

}  // namespace cellblock::cli
