#pragma once

#include <string>

#include "policy/base/user_directory.h"

namespace cellblock::cli {

/// For the calling user, as cellblockd finds its own; empty: there is none.
std::string own_directory(const UserDirectory& which);

}  // namespace cellblock::cli
