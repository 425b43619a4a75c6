#pragma once

#include <string>

#include "policy/config/config.h"

namespace cellblock {

/// What a configuration declares, as members of the installation's status: every server with its
/// weakenings and why it is left out, and roles and tokens that are. Of commands it has the program
/// and its script; arguments and secrets stay out. Made by who reads the configuration: the
/// supervisor passes it on as it is. Pure.
std::string declared_parts(const Config& config);

}  // namespace cellblock
