#include "supervisor/loader/load/disks.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <sstream>

#include "policy/sandbox/workspace_match.h"

namespace cellblock::daemon {
namespace {

// A missing path will be on the file system of its nearest existing directory.
std::string nearest(std::string path) {
  struct stat ignored{};
  while (path.size() > 1 && ::stat(path.c_str(), &ignored) < 0) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) break;
    path.resize(std::max<std::size_t>(slash, 1));
  }
  return path;
}

// The disk of a partition such as "8:1" is its parent directory in /sys.
std::optional<Disk> whole_disk(dev_t device) {
  const std::string own = fmt::format("/sys/dev/block/{}:{}/", ::major(device), ::minor(device));
  struct stat ignored{};
  const bool partition = ::stat((own + "partition").c_str(), &ignored) == 0;
  std::ifstream file(own + (partition ? "../dev" : "dev"));
  Disk disk;
  char colon = 0;
  if (!(file >> disk.major >> colon >> disk.minor) || colon != ':') return {};
  return disk;
}

bool lies_in_memory(const std::string& path) {
  struct statfs system{};
  if (::statfs(path.c_str(), &system) < 0) return false;
  constexpr std::array<std::uint64_t, 6> kinds = {TMPFS_MAGIC,         RAMFS_MAGIC,
                                                  PROC_SUPER_MAGIC,    SYSFS_MAGIC,
                                                  CGROUP2_SUPER_MAGIC, HUGETLBFS_MAGIC};
  return std::ranges::find(kinds, static_cast<std::uint64_t>(system.f_type)) != kinds.end();
}

// File systems with a number of their own (btrfs) are mounted from the device all the same.
std::optional<Disk> disk_of_mount(dev_t device) {
  const std::string wanted = fmt::format("{}:{}", ::major(device), ::minor(device));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, number, kind, source;
    words >> id >> parent >> number;
    const std::size_t dash = line.find(" - ");
    if (number != wanted || dash == std::string::npos) continue;
    std::istringstream(line.substr(dash + 3)) >> kind >> source;
    struct stat status{};
    if (!source.starts_with("/dev/") || ::stat(source.c_str(), &status) < 0) continue;
    if (S_ISBLK(status.st_mode)) return whole_disk(status.st_rdev);
  }
  return {};
}

Result<std::optional<Disk>> disk_behind(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) < 0) return fail(path + " cannot be looked at");
  auto disk = whole_disk(status.st_dev);
  if (!disk) disk = disk_of_mount(status.st_dev);
  if (disk || lies_in_memory(path)) return disk;
  return fail(fmt::format("{} is on a file system whose disks cannot be told (device {}:{})", path,
                          ::major(status.st_dev), ::minor(status.st_dev)));
}

}  // namespace

std::vector<std::string> paths_seen(const Server& server, const std::string& state_directory) {
  std::vector<std::string> paths = {server.image.empty() ? "/usr" : server.image, state_directory};
  for (const Bind& bind : server.binds) paths.push_back(bind.source);
  if (!server.workspace) return paths;
  for (const std::string& pattern : server.workspace->allow) {
    paths.push_back(static_prefix(pattern));
  }
  return paths;
}

Result<std::vector<Disk>> disks_behind(const std::vector<std::string>& paths) {
  std::vector<Disk> disks;
  for (const std::string& path : paths) {
    const auto disk = CELLBLOCK_TRY(disk_behind(nearest(path)));
    if (disk && std::ranges::find(disks, *disk) == disks.end()) disks.push_back(*disk);
  }
  return disks;
}

}  // namespace cellblock::daemon
