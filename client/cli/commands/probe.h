#pragma once

#include "client/cli/common/context.h"
#include "client/cli/common/server_request.h"

namespace cellblock::cli {

/// Tries from inside that server's cell what it should not do: `cellblock explain NAME --prove`.
Exit prove(const Context& context, const ServerRequest& request);

}  // namespace cellblock::cli
