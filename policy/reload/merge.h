#pragma once

#include "policy/config/config.h"

/// A configuration that is to take the place of one in use: processes go on naming a server by its
/// index. Pure.
namespace cellblock {

/// `fresh`, as a start would have it, with each server at its index in `used`. A server that is no
/// longer declared stays there as it was, but removed, off and without users; new ones follow. What
/// only a start finds out is taken over.
Config merged(const Config& used, Config fresh);

/// Takes over into what was merged what waits for a restart, where nothing else depends on it. What
/// else only a start can change stays different, and refuses the reload.
void keep_for_restart(const Config& used, Config& fresh);

/// Assigns in place: a reference to a server, or a view of its name or a token's, stays good.
/// `live` has as many servers and tokens as `fresh` at the most, and room for the others.
void take_over(Config& live, Config fresh);

}  // namespace cellblock
