#pragma once

#include "cellblock/types.h"

/// Options that cannot mean what they say are refused before there is a connection. No I/O.
namespace cellblock::client {

/// A rule that no request can match would let pass what it was written to deny. Names are held to
/// what the daemon holds its own rules to, in the same words. invalid_argument.
Result<void> check_options(const Options& options);

Result<void> check_reconnect(const ReconnectOptions& options);

}  // namespace cellblock::client
