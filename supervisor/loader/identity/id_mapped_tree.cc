#include "supervisor/loader/identity/id_mapped_tree.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <utility>

#include "supervisor/loader/identity/id_map.h"
#include "supervisor/process/forked_work.h"
#include "supervisor/process/spawn.h"

namespace cellblock::daemon {
namespace {

constexpr std::chrono::milliseconds patience{10'000};
constexpr int line_descriptor = 3;

/// A process in a user namespace that it has made, until the end of the scope.
class Holder {
 public:
  static Result<Holder> start() {
    const Fd program = CELLBLOCK_TRY(open_program("/proc/self/exe"));
    Pair line = CELLBLOCK_TRY(make_seqpacket_pair());
    const std::array fds{line.second.get()};
    const pid_t pid =
        CELLBLOCK_TRY(spawn(program.get(), {"cellblockd", hold_user_namespace_option}, fds));
    line.second.reset();
    Holder holder(pid, std::move(line.first));
    CELLBLOCK_CHECK(wait_readable(holder.line_.get(), patience));
    int error = 0;
    CELLBLOCK_CHECK(receive_record(holder.line_.get(), error));
    if (error != 0) return std::unexpected<Error>(SysError{"unshare", error});
    return holder;
  }

  Holder(Holder&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), line_(std::move(other.line_)) {}
  Holder& operator=(Holder&&) = delete;
  ~Holder() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  pid_t pid() const { return pid_; }

 private:
  Holder(pid_t pid, Fd line) : pid_(pid), line_(std::move(line)) {}

  pid_t pid_ = -1;
  Fd line_;
};

Result<Fd> namespace_with(const std::function<Result<void>(pid_t)>& write_maps) {
  const Holder holder = CELLBLOCK_TRY(Holder::start());
  CELLBLOCK_CHECK(write_maps(holder.pid()));
  return CELLBLOCK_TRY(open_at(AT_FDCWD, process_file(holder.pid(), "ns/user").c_str(), O_RDONLY));
}

}  // namespace

Result<Fd> mapped_user_namespace(const std::string& uids, const std::string& gids) {
  return namespace_with([&](pid_t pid) -> Result<void> {
    CELLBLOCK_CHECK(write_process_file(pid, "uid_map", uids));
    return write_process_file(pid, "gid_map", gids);
  });
}

Result<Fd> subordinate_user_namespace(const Identity& identity) {
  return namespace_with([&identity](pid_t pid) {
    return write_id_maps(pid, Config{.identity = identity}, MapWay::newuidmap);
  });
}

int hold_user_namespace() {
  const int error = ::unshare(CLONE_NEWUSER) < 0 ? errno : 0;
  if (!send_record(line_descriptor, error)) return 1;
  int word = 0;
  static_cast<void>(receive_record(line_descriptor, word));  // until the other end is closed
  return 0;
}

}  // namespace cellblock::daemon

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

namespace cellblock::daemon {
namespace {

// An unused id: the kernel gives it to no process, and no cell has it.
constexpr std::uint32_t unowned_group = 0xffff'fffd;

std::string mapping_line(std::uint32_t from, std::uint32_t to) {
  return fmt::format("{} {} 1\n", from, to);
}

// A directory may belong to a group that is not its owner's: what is made there does so too, which
// takes that this group has an id in the mount. Whoever enters the namespace must gain none by it.
std::string group_lines(const IdMap& map, std::uint32_t group_of_source) {
  const std::string owners = mapping_line(map.gid, map.id);
  return group_of_source == map.gid ? owners
                                    : owners + mapping_line(group_of_source, unowned_group);
}

// Otherwise a mount in the copy would appear on the host, and the other way round
// (mount_namespaces(7), shared subtrees).
SysResult<void> leave_peers(int tree) {
  mount_attr attributes{};
  attributes.propagation = MS_PRIVATE;
  if (::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                sizeof attributes) < 0) {
    return sys_fail("mount_setattr");
  }
  return {};
}

SysResult<Fd> copy_tree(int source) {
  const long tree = ::syscall(SYS_open_tree, source, "",
                              OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
  if (tree < 0) return sys_fail("open_tree");
  Fd copy(static_cast<int>(tree));
  CELLBLOCK_CHECK(leave_peers(copy.get()));
  return copy;
}

Result<void> change_owner(int tree, int user_namespace) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(user_namespace);
  if (::syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                sizeof attributes) == 0) {
    return {};
  }
  if (errno == EINVAL) {
    return fail("mount_setattr: EINVAL: this kernel or file system has no ID-mapped mounts");
  }
  return std::unexpected<Error>(SysError{"mount_setattr", errno});
}

}  // namespace

Result<Fd> id_mapped_tree(int source, const IdMap& map) {
  struct stat status{};
  if (::fstat(source, &status) < 0) return std::unexpected<Error>(sys_fail("fstat").error());
  Fd tree = CELLBLOCK_TRY(copy_tree(source));
  const Fd ids = CELLBLOCK_TRY(
      mapped_user_namespace(mapping_line(map.uid, map.id), group_lines(map, status.st_gid)));
  CELLBLOCK_CHECK(change_owner(tree.get(), ids.get()));
  return tree;
}

}  // namespace cellblock::daemon
