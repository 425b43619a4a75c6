#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"
#include "supervisor/probe/scratch.h"

namespace cellblock::probe {
namespace {

constexpr unsigned other = 65'533;

Outcome become_root(const Setting&) { return from_call(::setresuid(0, 0, 0)); }
Outcome become_other(const Setting&) { return from_call(::setresuid(other, other, other)); }
Outcome join_group(const Setting&) { return from_call(::setresgid(other, other, other)); }
Outcome set_groups(const Setting&) { return from_call(::setgroups(1, &other)); }
Outcome change_file_user(const Setting&) {
  // It says nothing but what the id was; asking again shows whether it was set.
  const long before = ::syscall(SYS_setfsuid, other);
  if (before < 0) return held(errno);
  return ::syscall(SYS_setfsuid, -1) == other ? opened() : held("the id stayed as it was");
}

struct Capabilities {
  std::array<__user_cap_data_struct, 2> sets{};
  bool known = false;
};

Capabilities capabilities() {
  Capabilities found;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  found.known = ::syscall(SYS_capget, &header, found.sets.data()) == 0;
  return found;
}

Outcome has_capability(const Setting&) {
  const Capabilities mine = capabilities();
  if (!mine.known) return held(errno);
  const bool any = mine.sets[0].effective != 0 || mine.sets[1].effective != 0 ||
                   mine.sets[0].permitted != 0 || mine.sets[1].permitted != 0;
  return any ? opened() : held("all sets are empty");
}

Outcome could_regain(const Setting&) {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if (::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) return opened();
  }
  return held("the bounding set is empty");
}

Outcome raise_capability(const Setting&) {
  Capabilities wanted = capabilities();
  if (!wanted.known) return held(errno);
  wanted.sets[0].permitted |= 1U << CAP_CHOWN;
  wanted.sets[0].inheritable |= 1U << CAP_CHOWN;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  return from_call(::syscall(SYS_capset, &header, wanted.sets.data()));
}

Outcome keep_capabilities(const Setting&) {
  return from_call(::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
}

Outcome gain_by_exec(const Setting&) {
  const int locked = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  return locked == 1 ? held("no_new_privs is set") : opened();
}

Outcome has_no_filter(const Setting&) {
  const int mode = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
  if (mode < 0) return held(errno);
  return mode == 0 ? opened() : held("a filter is loaded");
}

Outcome find_set_user_id(const Setting&) {
  for (const char* path : {"/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/sudo"}) {
    struct stat file{};
    struct statvfs where{};
    if (::stat(path, &file) < 0 || (file.st_mode & S_ISUID) == 0) continue;
    if (::statvfs(path, &where) == 0 && (where.f_flag & ST_NOSUID) == 0) return opened(path);
  }
  return held("there is none, or its mount is nosuid");
}

Outcome lend_identity(const Setting&) {
  const Scratch scratch;
  if (!scratch.valid()) return scratch.problem();
  const Open file = scratch.create(O_WRONLY, 0700);
  if (!file.valid()) return unprepared(errno);
  return from_call(::fchmod(file.get(), 04755));
}

Outcome create_lender(const Setting&) {
  const Scratch scratch;
  if (!scratch.valid()) return scratch.problem();
  return scratch.create(O_WRONLY, 06755).valid() ? opened() : unprepared(errno);
}

Outcome give_file_capability(const Setting&) {
  const Scratch scratch;
  if (!scratch.valid()) return scratch.problem();
  const Open file = scratch.create(O_WRONLY, 0700);
  if (!file.valid()) return unprepared(errno);
  const vfs_cap_data chown{VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE, {{1U << CAP_CHOWN, 0}}};
  return from_call(::fsetxattr(file.get(), "security.capability", &chown, XATTR_CAPS_SZ_2, 0));
}

Outcome give_file_away(const Setting&) {
  const Scratch scratch;
  if (!scratch.valid()) return scratch.problem();
  const Open file = scratch.create(O_WRONLY, 0700);
  if (!file.valid()) return unprepared(errno);
  return from_call(::fchown(file.get(), other, other));
}

// What the kernel compares where it asks for a user and not for a capability, as in /proc/sys.
Outcome is_root_outside(const Setting&) {
  unsigned inside = 0;
  unsigned outside = 0;
  unsigned count = 0;
  const std::string map = text_of("/proc/self/uid_map");
  if (map.empty()) return held(ENOENT, "the map of ids cannot be read");
  const char* line = map.c_str();
  while (std::sscanf(line, "%u %u %u", &inside, &outside, &count) == 3) {  // NOLINT(cert-err34-c)
    const unsigned own = ::geteuid();
    if (own >= inside && own - inside < count && outside + (own - inside) == 0) return opened();
    const std::size_t next = std::string(line).find('\n');
    if (next == std::string::npos) break;
    line += next + 1;
  }
  return held("the id outside is another");
}

Outcome map_ids(const Setting&) { return try_open("/proc/self/uid_map", O_WRONLY); }

constexpr Attempt attempts[] = {
    {"become_root", "it can become root", become_root},
    {"become_other_user", "it can become another user", become_other},
    {"join_other_group", "it can join another group", join_group},
    {"set_groups", "it can choose its groups", set_groups},
    {"change_file_user", "files can be used as another user", change_file_user},
    {"be_root_outside", "files of the kernel that ask for root's id let it in", is_root_outside},
    {"map_more_ids", "ids can be added to its user namespace", map_ids},
    {"hold_capability", "it holds a capability", has_capability},
    {"regain_capability", "a capability can come back over exec", could_regain},
    {"raise_capability", "it can take a capability", raise_capability},
    {"keep_capabilities", "capabilities survive a change of user", keep_capabilities},
    {"gain_privilege_by_exec", "programs with more rights give them to it", gain_by_exec},
    {"call_without_filter", "every system call reaches the kernel", has_no_filter},
    {"find_set_user_id_program", "a program that runs as root is in reach and has its effect",
     find_set_user_id},
    {"lend_identity", "whoever runs its file gets its identity", lend_identity},
    {"create_set_user_id_file", "whoever runs its file gets its identity", create_lender},
    {"give_file_capability", "whoever runs its file gets a capability", give_file_capability},
    {"give_file_away", "a file can be made to look like another user's", give_file_away},
};

}  // namespace

std::span<const Attempt> privileges_attempts() { return attempts; }

}  // namespace cellblock::probe
