#include "supervisor/loader/load/cgroup_search.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "supervisor/loader/load/trusted_path.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {
namespace {

constexpr std::size_t most_bytes = 1U << 20;

SysResult<std::string> read_text(int directory, const char* name) {
  const Fd file = CELLBLOCK_TRY(open_at(directory, name, O_RDONLY));
  const auto bytes = CELLBLOCK_TRY(read_all(file.get(), most_bytes, Sealing::any));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Service managers mark delegated groups: systemd.exec(5), Delegate=. The trusted attribute is only
// shown to root. The group's owner could set the other one, but may use the group anyway.
Delegated is_marked(int directory) {
  for (const char* name : {"trusted.delegate", "user.delegate"}) {
    std::array<char, 8> value{};
    const ssize_t size = ::fgetxattr(directory, name, value.data(), value.size());
    if (size == 1 && value[0] == '1') return Delegated::yes;
  }
  return Delegated::no;
}

// Rootless: a group that this user may change was delegated to the user.
Delegated is_writable_without_root(int directory) {
  if (::geteuid() == 0) return Delegated::no;
  const bool writable = ::faccessat(directory, ".", W_OK, AT_EACCESS) == 0 &&
                        ::faccessat(directory, "cgroup.procs", W_OK, AT_EACCESS) == 0;
  return writable ? Delegated::yes : Delegated::no;
}

OtherProcesses others_in(const std::string& processes) {
  const std::string own = std::to_string(::getpid()) + "\n";
  return processes.empty() || processes == own ? OtherProcesses::none : OtherProcesses::some;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

GroupSight look_inside(const TrustedFile& file, std::string directory) {
  GroupSight sight{.directory = std::move(directory)};
  struct statfs system{};
  if (::fstatfs(file.fd.get(), &system) < 0 || system.f_type != CGROUP2_SUPER_MAGIC) {
    sight.problem = fmt::format("{} is not a directory of a cgroup2 file system", sight.directory);
    return sight;
  }
  const auto group = reopen_for_reading(file);
  const auto controllers =
      group ? read_text(group->get(), "cgroup.controllers") : std::unexpected(group.error());
  const auto processes =
      controllers ? read_text(group->get(), "cgroup.procs") : std::unexpected(controllers.error());
  if (!processes) {
    sight.problem = fmt::format("{}: {}", sight.directory, processes.error().text());
    return sight;
  }
  sight.controllers = *controllers;
  sight.others = others_in(*processes);
  sight.delegated = is_marked(group->get());
  if (sight.delegated == Delegated::no) sight.delegated = is_writable_without_root(group->get());
  return sight;
}

GroupSight look_at(const std::string& path, std::span<const uid_t> owners) {
  const auto opened = open_trusted(path, {owners, LastLink::follow});
  if (!opened) return {.problem = fmt::format("{}: {}", path, opened.error().text)};
  if (const auto unsafe = unsafe_owner_or_mode(opened->status, owners)) {
    return {.problem = fmt::format("{} {}", path, *unsafe)};
  }
  return look_inside(*opened, opened->path);
}

// A group that does not exist yet will have the controllers that its parent passes on, and no
// processes.
GroupSight look_at_named(const std::string& path, std::span<const uid_t> owners) {
  if (::access(path.c_str(), F_OK) == 0) return look_at(path, owners);
  GroupSight sight = look_at(parent_of(path), owners);
  const auto passed_on = read_text(AT_FDCWD, (sight.directory + "/cgroup.subtree_control").c_str());
  sight.controllers = passed_on.value_or("");
  sight.directory = path;
  sight.others = OtherProcesses::none;
  return sight;
}

std::vector<CgroupMount> mounts_here() {
  const auto text = read_text(AT_FDCWD, "/proc/self/mountinfo");
  return text ? cgroup_mounts(*text) : std::vector<CgroupMount>{};
}

GroupSight look_at_own(const std::vector<CgroupMount>& mounts, std::span<const uid_t> owners) {
  if (mounts.empty()) return {.problem = "no cgroup2 file system is mounted here"};
  const auto text = read_text(AT_FDCWD, "/proc/self/cgroup");
  const auto group = text ? own_group(*text) : std::nullopt;
  const auto directory = group ? directory_of(*group, mounts) : std::nullopt;
  if (!directory) return {.problem = "the control group of this process is in no cgroup2 mount"};
  return look_at(*directory, owners);
}

std::string controllers_of_host(const std::vector<CgroupMount>& mounts) {
  if (mounts.empty()) return {};
  const auto text = read_text(AT_FDCWD, (mounts.front().point + "/cgroup.controllers").c_str());
  return text.value_or("");
}

}  // namespace

Cgroup look_for_cgroup(const CgroupChoice& choice, LookPurpose purpose,
                       std::span<const uid_t> owners) {
  if (choice.way == CgroupChoice::Way::none) return choose_group(choice, {}, purpose, {});
  const auto mounts = mounts_here();
  const GroupSight sight = choice.way == CgroupChoice::Way::path
                               ? look_at_named(choice.path, owners)
                               : look_at_own(mounts, owners);
  return choose_group(choice, sight, purpose, controllers_of_host(mounts));
}

}  // namespace cellblock::daemon
