#include "supervisor/loader/start/cgroup_setup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "supervisor/loader/load/cgroup_leftovers.h"
#include "supervisor/loader/load/trusted_path.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

std::unexpected<Error> fail_at(const std::string& what, const SysError& error) {
  return fail("the control group " + what + ": " + error.text());
}

// An existing group keeps its owner until chown_tree().
SysResult<Fd> make_group(int parent, const char* name) {
  if (::mkdirat(parent, name, 0755) < 0 && errno != EEXIST) return sys_fail("mkdir");
  return open_at(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

Result<void> require_cgroup2(const std::string& path, int directory) {
  struct statfs system{};
  if (::fstatfs(directory, &system) < 0) return fail_at(path, sys_fail("fstatfs").error());
  if (system.f_type == CGROUP2_SUPER_MAGIC) return {};
  return fail(path + " is not in a cgroup2 file system");
}

Result<TrustedFile> open_checked(const std::string& path, std::span<const uid_t> owners) {
  auto opened = open_trusted(path, WalkRules{.owners = owners, .last_link = LastLink::refuse});
  if (!opened) return fail(path + ": " + opened.error().text);
  if (const auto unsafe = unsafe_owner_or_mode(opened->status, owners)) {
    return fail(path + " " + *unsafe);
  }
  CELLBLOCK_CHECK(require_cgroup2(path, opened->fd.get()));
  return std::move(*opened);
}

// Makes a group that daemon.cgroup names if it does not exist.
Result<void> make_if_missing(const std::string& path, std::span<const uid_t> owners) {
  if (::access(path.c_str(), F_OK) == 0) return {};
  const std::size_t slash = path.rfind('/');
  const TrustedFile parent = CELLBLOCK_TRY(open_checked(path.substr(0, slash), owners));
  if (::mkdirat(parent.fd.get(), path.c_str() + slash + 1, 0755) == 0) return {};
  return fail_at(path, sys_fail("mkdir").error());
}

Result<Fd> open_locked(const std::string& path, std::span<const uid_t> owners) {
  CELLBLOCK_CHECK(make_if_missing(path, owners));
  const TrustedFile directory = CELLBLOCK_TRY(open_checked(path, owners));
  Fd group = CELLBLOCK_TRY(reopen_for_reading(directory));
  if (::flock(group.get(), LOCK_EX | LOCK_NB) == 0) return group;
  if (errno == EWOULDBLOCK) return fail(path + " is in use by another cellblockd");
  return fail_at(path, sys_fail("flock").error());
}

// Enables each controller by itself, so that the error names it.
Result<void> enable_controllers(const std::string& path, int group, const Cgroup& wanted) {
  const std::array<std::pair<bool, std::string_view>, 4> controllers = {
      {{wanted.memory, "memory"}, {wanted.pids, "pids"}, {wanted.cpu, "cpu"}, {wanted.io, "io"}}};
  for (const auto& [is_wanted, name] : controllers) {
    if (!is_wanted) continue;
    const std::string word = fmt::format("+{}", name);
    const auto written = write_control_file(group, "cgroup.subtree_control", word);
    if (!written)
      return fail_at(fmt::format("{}/cgroup.subtree_control: {}", path, word), written.error());
  }
  return {};
}

// The launcher makes groups in `cells` and moves processes there; for a move the kernel wants both
// groups, and their common ancestor, to be writable for it.
SysResult<void> chown_tree(int group, int cells, const Identity& identity) {
  if (identity.uid == ::geteuid()) return {};
  constexpr std::array files = {"cgroup.procs", "cgroup.subtree_control", "cgroup.threads"};
  if (::fchown(cells, identity.uid, identity.gid) < 0) return sys_fail("fchown");
  for (const char* file : files) {
    if (::fchownat(cells, file, identity.uid, identity.gid, AT_SYMLINK_NOFOLLOW) < 0) {
      return sys_fail("fchown");
    }
  }
  if (::fchownat(group, "cgroup.procs", identity.uid, identity.gid, AT_SYMLINK_NOFOLLOW) < 0) {
    return sys_fail("fchown");
  }
  return {};
}

Result<Fd> make_own_groups(const Config& config, int group, std::vector<std::string>& left) {
  const std::string& path = config.cgroup.directory;
  const auto supervisor = make_group(group, "supervisor");
  if (!supervisor) return fail_at(path + "/supervisor", supervisor.error());
  auto cells = make_group(group, "cells");
  if (!cells) return fail_at(path + "/cells", cells.error());
  // First: a group with processes of its own cannot give controllers to those below it.
  if (const auto moved = write_control_file(supervisor->get(), "cgroup.procs", "0"); !moved) {
    return fail_at(path + "/supervisor/cgroup.procs", moved.error());
  }
  left = CELLBLOCK_TRY(end_leftovers(path, cells->get(), config.identity.uid));
  // Comes before the launcher can write there, so that the bound holds for every group that it
  // makes.
  if (const auto bounded = bound_nesting(cells->get()); !bounded) {
    return fail_at(path + "/cells", bounded.error());
  }
  CELLBLOCK_CHECK(enable_controllers(path, group, config.cgroup));
  CELLBLOCK_CHECK(enable_controllers(path + "/cells", cells->get(), config.cgroup));
  if (const auto given = chown_tree(group, cells->get(), config.identity); !given) {
    return fail_at(path, given.error());
  }
  return std::move(*cells);
}

}  // namespace

Result<OwnGroups> set_up_groups(const Config& config) {
  OwnGroups groups;
  if (config.cgroup.directory.empty()) {
    groups.cells = CELLBLOCK_TRY(open_at(AT_FDCWD, "/dev/null", O_RDONLY));
    return groups;
  }
  const std::array<uid_t, 2> owners{0, config.identity.uid};
  groups.lock = CELLBLOCK_TRY(open_locked(config.cgroup.directory, owners));
  groups.cells = CELLBLOCK_TRY(make_own_groups(config, groups.lock.get(), groups.left));
  return groups;
}

}  // namespace cellblock::daemon
