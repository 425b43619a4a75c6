#pragma once

#include <string>

#include "policy/base/user_directory.h"

namespace cellblock::cli {

/// Of the user who runs this, as cellblockd finds its own; empty: there is none.
std::string own_directory(const UserDirectory& which);

}  // namespace cellblock::cli
