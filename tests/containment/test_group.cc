#include "tests/containment/test_group.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "supervisor/loader/load/cgroup_search.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

std::string read_whole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Empty directories below are groups, whose files need no removing.
void remove_group(const std::filesystem::path& path) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_directory(error)) remove_group(entry.path());
  }
  ::rmdir(path.c_str());
}

}  // namespace

std::string cgroup2_mount() {
  const auto mounts = daemon::cgroup_mounts(read_whole("/proc/self/mountinfo"));
  return mounts.empty() ? std::string() : mounts.front().point;
}

TestGroup::TestGroup() {
  const std::string mount = cgroup2_mount();
  if (::geteuid() != 0) missing_ = "only root can make a control group here";
  if (mount.empty()) missing_ = "no cgroup2 file system is mounted here";
  if (!missing_.empty()) return;
  const auto own = daemon::own_group(read_whole("/proc/self/cgroup"));
  home_ = mount + own.value_or("");
  const Ids ids = ids_here();
  config_.identity = {.uid = ids.daemon, .gid = ids.daemon};
  const std::string name = mount + "/cellblock-test-" + std::to_string(::getpid());
  const std::array<uid_t, 1> owners = {0};
  config_.cgroup =
      daemon::look_for_cgroup({CgroupChoice::Way::path, name}, daemon::LookPurpose::start, owners);
  set_up_again();
}

void TestGroup::set_up_again() {
  groups_ = {};
  auto groups = daemon::set_up_groups(config_);
  if (groups) groups_ = std::move(*groups);
  if (!groups) missing_ = groups.error().text;
}

std::string TestGroup::set_up_second() const {
  const auto groups = daemon::set_up_groups(config_);
  return groups ? std::string() : groups.error().text;
}

TestGroup::~TestGroup() {
  if (config_.cgroup.directory.empty()) return;
  std::ofstream(home_ + "/cgroup.procs") << "0" << std::flush;
  groups_ = {};
  remove_group(config_.cgroup.directory);
}

std::string TestGroup::path(const std::string& name) const {
  return config_.cgroup.directory + "/" + name;
}

std::string TestGroup::read(const std::string& name) const { return read_whole(path(name)); }

}  // namespace cellblock::containment
