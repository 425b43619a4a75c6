#pragma once

#include <string>
#include <vector>

#include "policy/base/result.h"

namespace cellblock::cli {

/// Adds the entries of egress.allow for the host of `url`: its name, and where the name leads to an
/// address that is not public, that address as well: this machine's configuration names it, so it
/// is meant. An error: an address that cannot be read, has a password, or cannot be allowed.
Result<void> add_registry_rules(const std::string& url, std::vector<std::string>& rules);

}  // namespace cellblock::cli
