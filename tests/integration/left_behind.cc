#include "tests/integration/left_behind.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "supervisor/os/sys.h"
#include "tests/integration/process.h"

namespace cellblock::harness {
namespace {

/// Empty of a process that has gone, also where it goes while it is read: iterators would throw
/// then.
std::string contents_of(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

/// Children of every thread of `pid`, as the kernel lists them. Twice: a list that is read while
/// one of them ends may lack others (proc_pid_task(5)).
std::vector<int> children_of(int pid) {
  std::set<int> children;
  std::error_code gone;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (int reading = 0; reading < 2; ++reading) {
    for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
      std::istringstream list(contents_of(task.path() / "children"));
      children.insert(std::istream_iterator<int>(list), {});
    }
  }
  return {children.begin(), children.end()};
}

void reap_ended() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

/// False at the deadline. A child that has just gone counts as ended.
bool has_ended(int pid) {
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return !pidfd.valid() || wait_for_end(pidfd.get());
}

std::string user_namespace_of(int pid) {
  std::error_code gone;
  return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/user", gone);
}

// All that lasts of a cell has a parent within the cell, or is the first process of its namespace.
bool is_helper_of_a_moment(int pid) {
  const std::string parent = status_field(pid, "PPid");
  const std::string name = status_field(pid, "Name");
  if (parent.empty() || name != status_field(std::atoi(parent.c_str()), "Name")) return false;
  return user_namespace_of(pid) == user_namespace_of(std::atoi(parent.c_str()));
}

bool is_alive(int pidfd) {
  pollfd words{pidfd, POLLIN, 0};
  return ::poll(&words, 1, 0) == 0;
}

}  // namespace

void become_reaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<std::string> surviving_children() {
  // A child that ends can bring orphans of its own, so look again until there is none.
  while (true) {
    reap_ended();
    const std::vector<int> children = children_of(::getpid());
    if (children.empty()) return {};
    std::vector<std::string> survivors;
    for (const int child : children) {
      if (!has_ended(child)) survivors.push_back(std::to_string(child) + " " + command_line(child));
    }
    if (!survivors.empty()) return survivors;
  }
}

// But the small disks that other tests fill, at the same time, with their daemon's log.
std::vector<std::string> mounts() {
  std::vector<std::string> lines;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const bool is_full_disk = line.contains("/cellblock-test.") && line.contains("/log rw");
    if (!is_full_disk) lines.push_back(line);
  }
  return lines;
}

std::vector<int> descendants_of(int pid) {
  std::vector<int> found = children_of(pid);
  for (std::size_t next = 0; next < found.size(); ++next) {
    const std::vector<int> children = children_of(found[next]);
    found.insert(found.end(), children.begin(), children.end());
  }
  return found;
}

std::vector<int> lasting_descendants_of(int pid) {
  std::vector<int> found = descendants_of(pid);
  std::erase_if(found, [](int process) {
    const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
    if (!pidfd.valid()) return true;
    // In this order: one that ended while it was looked at looks like nobody's helper.
    const bool passing = is_helper_of_a_moment(process);
    return !is_alive(pidfd.get()) || (passing && wait_for_end(pidfd.get()));
  });
  return found;
}

std::string status_field(int pid, const std::string& key) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key + ":")) continue;
    const auto value = line.find_first_not_of(" \t", key.size() + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return {};
}

std::string command_line(int pid) {
  std::string text = contents_of("/proc/" + std::to_string(pid) + "/cmdline");
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace cellblock::harness
