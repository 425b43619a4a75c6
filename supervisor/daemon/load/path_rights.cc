#include "supervisor/daemon/load/path_rights.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/daemon/load/forked_work.h"
#include "supervisor/daemon/load/privileges.h"
#include "supervisor/daemon/load/wait_readable.h"
#include "supervisor/os/fork_without_handlers.h"
#include "supervisor/os/pidfd.h"

namespace cellblock::daemon {
namespace {

// Exit codes of the child; others mean that nothing was found out.
constexpr int told = 64;
constexpr int reads = 1;
constexpr int writes = 2;

// --- in the child -------------------------------------------------------------------------------

bool change_file_system_ids(uid_t uid, gid_t gid) {
  ::setfsgid(gid);
  ::setfsuid(uid);
  return static_cast<gid_t>(::setfsgid(gid)) == gid && static_cast<uid_t>(::setfsuid(uid)) == uid;
}

// For files alone: by its other ids that user could stop this process, which somebody waits for.
bool become(const AskedIdentity& identity) {
  if (identity.user_namespace >= 0 && ::setns(identity.user_namespace, CLONE_NEWUSER) < 0) {
    return false;
  }
  return ::setgroups(0, nullptr) == 0 && change_file_system_ids(identity.uid, identity.gid) &&
         drop_all_capabilities().has_value();
}

bool may(int descriptor, int mode) {
  return ::syscall(SYS_faccessat2, descriptor, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0;
}

[[noreturn]] void look_and_exit(int descriptor, bool is_directory, const AskedIdentity& identity) {
  if (!become(identity)) ::_exit(0);
  const PathRights rights = own_rights_at(descriptor, is_directory);
  ::_exit(told | (rights.read ? reads : 0) | (rights.write ? writes : 0));
}

// --------------------------------------------------------------------------------------------------

}  // namespace

PathRights own_rights_at(int descriptor, bool is_directory) {
  const int search = is_directory ? X_OK : 0;
  return {.read = may(descriptor, R_OK | search), .write = may(descriptor, W_OK | search)};
}

std::optional<PathRights> rights_at(int descriptor, bool is_directory,
                                    const AskedIdentity& identity) {
  const pid_t child = fork_without_handlers();
  if (child < 0) return std::nullopt;
  if (child == 0) look_and_exit(descriptor, is_directory, identity);
  const Fd end = open_pidfd(child);
  if (end.valid()) static_cast<void>(wait_readable(end.get(), source_patience));
  const int status = end_or_leave(child, end.get());
  if (status < 0 || !WIFEXITED(status) || (WEXITSTATUS(status) & told) == 0) return std::nullopt;
  return PathRights{.read = (WEXITSTATUS(status) & reads) != 0,
                    .write = (WEXITSTATUS(status) & writes) != 0};
}

}  // namespace cellblock::daemon
