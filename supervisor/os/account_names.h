#pragma once

#include <sys/types.h>

#include <string>

namespace cellblock {

/// The name in the account database; empty if there is none. Blocking.
std::string name_of_user(uid_t uid);
std::string name_of_group(gid_t gid);

}  // namespace cellblock
