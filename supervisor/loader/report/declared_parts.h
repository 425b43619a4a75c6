#pragma once

#include <string>

#include "policy/config/config.h"

namespace cellblock {

/// A configuration's declarations as members of the installation's status: every server with its
/// weakenings and the cause if it is left out, and the roles and tokens that are left out. Of
/// commands it has the program and its script, but no arguments and no secrets. The reader of the
/// configuration makes it; the supervisor passes it on unread. Pure.
std::string declared_parts(const Config& config);

}  // namespace cellblock
