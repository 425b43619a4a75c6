#include "supervisor/os/account_names.h"

#include <grp.h>
#include <pwd.h>

#include "supervisor/os/account_entry.h"

namespace cellblock {

std::string name_of_user(uid_t uid) {
  return with_entry<passwd>([&](auto... rest) { return ::getpwuid_r(uid, rest...); },
                            [](const passwd& entry) { return std::string(entry.pw_name); });
}

std::string name_of_group(gid_t gid) {
  return with_entry<group>([&](auto... rest) { return ::getgrgid_r(gid, rest...); },
                           [](const group& entry) { return std::string(entry.gr_name); });
}

}  // namespace cellblock
