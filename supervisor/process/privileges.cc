#include "supervisor/process/privileges.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "policy/config/host_facts.h"

namespace cellblock::daemon {
namespace {

constexpr int last_capability = 63;  // two words of 32: what version 3 of the interface can carry
constexpr std::uint64_t map_writers = (1ULL << CAP_SETUID) | (1ULL << CAP_SETGID);
constexpr std::uint64_t mounter = 1ULL << CAP_SYS_ADMIN;

struct CapabilitySets {
  std::uint64_t effective = 0;
  std::uint64_t permitted = 0;
  std::uint64_t inheritable = 0;
};

SysResult<CapabilitySets> get_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> words{};
  if (::syscall(SYS_capget, &header, words.data()) < 0) return sys_fail("capget");
  const auto join = [](std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{low} | (std::uint64_t{high} << 32U);
  };
  return CapabilitySets{join(words[0].effective, words[1].effective),
                        join(words[0].permitted, words[1].permitted),
                        join(words[0].inheritable, words[1].inheritable)};
}

// Effective and permitted become `set`, inheritable empty; with it goes the ambient set.
SysResult<void> keep_capabilities(std::uint64_t set) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = static_cast<std::uint32_t>(set);
  const auto high = static_cast<std::uint32_t>(set >> 32U);
  const std::array<__user_cap_data_struct, 2> words{{{low, low, 0}, {high, high, 0}}};
  if (::syscall(SYS_capset, &header, words.data()) < 0) return sys_fail("capset");
  return {};
}

SysResult<void> process_control(int option, unsigned long value) {
  if (::prctl(option, value, 0, 0, 0) < 0) return sys_fail("prctl");
  return {};
}

bool in_bounding_set(int capability) { return ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1; }

// Without CAP_SETPCAP the bounding set stays as the service manager left it. It only bounds what an
// exec could gain, and no_new_privs means that no exec gains anything.
SysResult<void> empty_bounding_set() {
  const auto sets = get_capabilities();
  if (!sets) return std::unexpected(sets.error());
  if ((sets->effective & (1ULL << CAP_SETPCAP)) == 0) return {};
  for (int capability = 0; capability <= last_capability; ++capability) {
    if (!in_bounding_set(capability)) continue;
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return sys_fail("prctl");
  }
  return {};
}

SysResult<void> set_groups(std::span<const gid_t> groups) {
  if (::setgroups(groups.size(), groups.data()) < 0) return sys_fail("setgroups");
  return {};
}

Result<void> check_ids(const DaemonUser& user) {
  std::array<uid_t, 3> uids{};
  std::array<gid_t, 3> gids{};
  ::getresuid(&uids[0], &uids[1], &uids[2]);
  ::getresgid(&gids[0], &gids[1], &gids[2]);
  for (const uid_t uid : uids) {
    if (uid != user.uid) return fail("a user id of the supervisor did not change");
  }
  for (const gid_t gid : gids) {
    if (gid != user.gid) return fail("a group id of the supervisor did not change");
  }
  return {};
}

Result<void> check_enough(const DaemonUser& user) {
  const CapabilitySets sets = CELLBLOCK_TRY(get_capabilities());
  if (user.uid == 0) return fail("the supervisor must not run as root: set daemon.user");
  if ((sets.permitted & map_writers) != map_writers) {
    return fail(
        "needs CAP_SETUID and CAP_SETGID: start it as root, as cellblock.service, or with "
        "--user for one user");
  }
  if (::geteuid() != 0 && ::geteuid() != user.uid) {
    return fail("runs as uid " + std::to_string(::geteuid()) + ", but daemon.user is uid " +
                std::to_string(user.uid));
  }
  return {};
}

// EPERM is the only proof: another errno means that the call failed for another reason.
Result<void> must_fail(int result, const char* what) {
  if (result == 0)
    return fail(std::string(what) + " still works after every capability was dropped");
  if (errno != EPERM) return fail(std::string(what) + " failed, but not for lack of permission");
  return {};
}

}  // namespace

Result<void> become_daemon_user(const DaemonUser& user, Keep keep) {
  CELLBLOCK_CHECK(check_enough(user));
  const std::uint64_t kept =
      keep == Keep::mounting && may_mount() ? map_writers | mounter : map_writers;
  // First, while there is a CAP_SETPCAP; the user namespace made later has a full one of its own.
  CELLBLOCK_CHECK(empty_bounding_set());
  CELLBLOCK_CHECK(process_control(PR_SET_KEEPCAPS, 1));
  // Groups, gid, uid: each needs what the next takes away.
  CELLBLOCK_CHECK(set_groups(user.groups));
  if (::setresgid(user.gid, user.gid, user.gid) < 0) return sys_fail("setresgid");
  if (::setresuid(user.uid, user.uid, user.uid) < 0) return sys_fail("setresuid");
  CELLBLOCK_CHECK(process_control(PR_SET_KEEPCAPS, 0));
  CELLBLOCK_CHECK(keep_capabilities(kept));
  return check_ids(user);
}

bool may_mount() {
  const auto sets = get_capabilities();
  constexpr std::uint64_t needed = map_writers | mounter;
  return sets && (sets->effective & needed) == needed;
}

Result<void> stop_mounting() {
  const CapabilitySets sets = CELLBLOCK_TRY(get_capabilities());
  CELLBLOCK_CHECK(keep_capabilities(sets.permitted & map_writers));
  return {};
}

Result<void> leave_groups() {
  CELLBLOCK_CHECK(set_groups({}));
  return {};
}

Result<void> forbid_new_privileges() {
  CELLBLOCK_CHECK(process_control(PR_SET_NO_NEW_PRIVS, 1));
  return {};
}

Result<void> drop_all_capabilities() {
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return sys_fail("prctl");
  CELLBLOCK_CHECK(empty_bounding_set());
  CELLBLOCK_CHECK(keep_capabilities(0));
  return {};
}

Result<void> prove_powerless(uid_t other_id) {
  const CapabilitySets sets = CELLBLOCK_TRY(get_capabilities());
  if ((sets.effective | sets.permitted | sets.inheritable) != 0) {
    return fail("a capability is left after all were dropped");
  }
  for (int capability = 0; capability <= last_capability; ++capability) {
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1) {
      return fail("an ambient capability is left after all were dropped");
    }
  }
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return fail("no_new_privs is not set");
  CELLBLOCK_CHECK(must_fail(::setresuid(0, 0, 0), "becoming root"));
  // Users of containers often are in root's group, and nothing is gained by joining one's own.
  const gid_t foreign = ::getgid() == 0 ? 1 : 0;
  CELLBLOCK_CHECK(must_fail(::setresgid(foreign, foreign, foreign), "joining a system group"));
  if (other_id == ::getuid()) return {};
  return must_fail(::setresuid(other_id, other_id, other_id), "becoming a cell's user");
}

namespace {

/// This thread's rights to files, until the end of the scope.
class FileSystemUser {
 public:
  FileSystemUser(uid_t uid, gid_t gid)
      : gid_before_(static_cast<gid_t>(::setfsgid(gid))),
        uid_before_(static_cast<uid_t>(::setfsuid(uid))) {}
  FileSystemUser(const FileSystemUser&) = delete;
  FileSystemUser& operator=(const FileSystemUser&) = delete;
  ~FileSystemUser() {
    ::setfsuid(uid_before_);
    ::setfsgid(gid_before_);
  }

 private:
  gid_t gid_before_;
  uid_t uid_before_;
};

// The last directory of the path that can still be looked at.
struct stat deepest_visible(const std::string& path) {
  struct stat found{};
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    struct stat next{};
    if (::stat(path.substr(0, slash).c_str(), &next) < 0) break;
    found = next;
  }
  return found;
}

}  // namespace

SysResult<Fd> open_path(const std::string& path, Links links) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS | (links == Links::refuse ? RESOLVE_NO_SYMLINKS : 0);
  const long file = ::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how);
  if (file < 0) return sys_fail("openat2");
  return Fd(static_cast<int>(file));
}

SysResult<Fd> open_source(const std::string& path, Links links) {
  auto opened = open_path(path, links);
  if (opened || opened.error().number != EACCES) return opened;
  const struct stat closed = deepest_visible(path);
  if (closed.st_uid < first_person || closed.st_gid == 0) return opened;
  const FileSystemUser owner(closed.st_uid, closed.st_gid);
  return open_path(path, links);
}

}  // namespace cellblock::daemon
