#pragma once

#include "policy/config/config.h"

namespace cellblock {

/// Makes a server one of which nothing is started: it gets no secret and no mount of a user's
/// directory. Its rules stay, for they say who may hear why.
void leave_out(Server& server, Breakage why);

}  // namespace cellblock
