#include "tests/containment/outside.h"

#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "tests/containment/child_process.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

bool keep_mounts_private() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

void lower(__rlimit_resource resource, rlim_t soft) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = std::min(soft, limit.rlim_max);
  ::setrlimit(resource, &limit);
}

// So that there is room to raise them, as there is in a login session.
void lower_limits() {
  lower(RLIMIT_NOFILE, 256);
  lower(RLIMIT_NPROC, 4096);
  lower(RLIMIT_MEMLOCK, 1U << 16);
  lower(RLIMIT_SIGPENDING, 512);
  lower(RLIMIT_MSGQUEUE, 400'000);
}

int exec_probe(int output, const std::vector<std::string>& command, Outside who) {
  lower_limits();
  if (::dup2(output, STDOUT_FILENO) < 0) return 98;
  if (!(who == Outside::root ? keep_mounts_private() : become_cell_user())) return 99;
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  return 127;
}

}  // namespace

bool become_cell_user() {
  if (::geteuid() != 0) return true;
  const std::uint32_t id = ids_here().first_cell;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(id, id, id) == 0 &&
         ::setresuid(id, id, id) == 0 && ::prctl(PR_SET_DUMPABLE, 1) == 0;
}

std::string run_outside(const std::vector<std::string>& command, Outside who) {
  const ChildResult result =
      run_child_process([&](int output) { return exec_probe(output, command, who); });
  if (result.output.empty()) return result.end;
  return result.output.substr(0, result.output.find('\n'));
}

std::string whole_output_outside(const std::vector<std::string>& command, Outside who) {
  return run_child_process([&](int output) { return exec_probe(output, command, who); }).output;
}

}  // namespace cellblock::containment
