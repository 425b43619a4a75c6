#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

bool is_own(const Setting& setting, pid_t process) {
  return process == setting.program || process == ::getpid();
}

// "pid 1" is no attempt where this program itself is pid 1, or was started by it as its parent.
Outcome of_first(const Setting& setting, const char* entry, int flags) {
  if (setting.program == 1) return not_applicable("this program is pid 1 itself");
  return try_open((std::string("/proc/1/") + entry).c_str(), flags);
}

Outcome first_environment(const Setting& setting) {
  if (setting.program == 1) return not_applicable("this program is pid 1 itself");
  return try_read("/proc/1/environ");
}
Outcome first_command(const Setting& setting) {
  if (setting.program == 1) return not_applicable("this program is pid 1 itself");
  return try_read("/proc/1/cmdline");
}
Outcome first_root(const Setting& setting) {
  return of_first(setting, "root/", O_RDONLY | O_DIRECTORY);
}
Outcome first_memory(const Setting& setting) { return of_first(setting, "mem", O_RDONLY); }
Outcome first_descriptors(const Setting& setting) {
  return of_first(setting, "fd", O_RDONLY | O_DIRECTORY);
}
Outcome first_namespace(const Setting& setting) {
  if (setting.program == 1) return not_applicable("this program is pid 1 itself");
  const Open space(::open("/proc/1/ns/mnt", O_RDONLY | O_CLOEXEC));
  if (!space.valid()) return held(errno);
  return from_call(::syscall(SYS_setns, space.get(), 0));
}
Outcome signal_first(const Setting& setting) {
  if (setting.program == 1) return not_applicable("this program is pid 1 itself");
  return from_call(::kill(1, 0));
}

// --- who started us ------------------------------------------------------------------------------

template <class Body>
Outcome with_parent(const Setting& setting, Body body) {
  if (setting.program_parent == 0) return held("who started it is outside its pid namespace");
  if (setting.program_parent == 1) return not_applicable("its parent is pid 1");
  return body(setting.program_parent);
}

std::string of_process(pid_t process, const char* entry) {
  return "/proc/" + std::to_string(process) + "/" + entry;
}

Outcome trace(pid_t process) {
  return from_call(::ptrace(PTRACE_SEIZE, process, nullptr, nullptr));
}

Outcome steal_descriptor(pid_t process) {
  const Open handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!handle.valid()) return held(errno);
  const Open stolen(static_cast<int>(::syscall(SYS_pidfd_getfd, handle.get(), 2, 0)));
  return from_call(stolen.get());
}

Outcome parent_environment(const Setting& setting) {
  return with_parent(setting,
                     [](pid_t parent) { return try_read(of_process(parent, "environ").c_str()); });
}
Outcome parent_memory(const Setting& setting) {
  return with_parent(
      setting, [](pid_t parent) { return try_open(of_process(parent, "mem").c_str(), O_RDONLY); });
}
Outcome trace_parent(const Setting& setting) { return with_parent(setting, trace); }
Outcome signal_parent(const Setting& setting) {
  return with_parent(setting, [](pid_t parent) { return from_call(::kill(parent, 0)); });
}
Outcome steal_from_parent(const Setting& setting) { return with_parent(setting, steal_descriptor); }

// --- children, which it could kill ---------------------------------------------------------------

Outcome trace_child(const Setting&) { return with_child(trace); }
Outcome steal_from_child(const Setting&) { return with_child(steal_descriptor); }

Outcome be_traced(const Setting&) {
  return from_call(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
}

enum class Copy : bool { out, in };
Outcome copy_memory(pid_t process, Copy direction) {
  static long word = 42;
  long copy = 42;
  const iovec here{&copy, sizeof copy};
  const iovec there{&word, sizeof word};
  if (direction == Copy::out) {
    return from_call(::process_vm_readv(process, &here, 1, &there, 1, 0));
  }
  return from_call(::process_vm_writev(process, &here, 1, &there, 1, 0));
}
Outcome read_child(const Setting&) {
  return with_child([](pid_t child) { return copy_memory(child, Copy::out); });
}
Outcome write_child(const Setting&) {
  return with_child([](pid_t child) { return copy_memory(child, Copy::in); });
}

Outcome compare_with_child(const Setting&) {
  return with_child(
      [](pid_t child) { return from_call(::syscall(SYS_kcmp, ::getpid(), child, KCMP_VM, 0, 0)); });
}

Outcome advise_child(const Setting&) {
  return with_child([](pid_t child) {
    const Open handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    if (!handle.valid()) return held(errno);
    static const std::string page(8192, 'x');
    const iovec range{const_cast<char*>(page.data()), 4096};
    return from_harmless_call(
        ::syscall(SYS_process_madvise, handle.get(), &range, 1, MADV_COLD, 0));
  });
}

Outcome open_child_memory(const Setting&) {
  return with_child([](pid_t child) {
    return try_open(("/proc/" + std::to_string(child) + "/mem").c_str(), O_RDWR);
  });
}

// --- others --------------------------------------------------------------------------------------

bool is_number(const char* name) {
  for (; *name != '\0'; ++name) {
    if (*name < '0' || *name > '9') return false;
  }
  return true;
}

Outcome see_others(const Setting& setting) {
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return held(errno);
  std::string seen;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  for (const dirent* entry = ::readdir(directory); entry != nullptr && seen.empty();
       entry = ::readdir(directory)) {  // NOLINT(concurrency-mt-unsafe)
    const char* name = entry->d_name;
    if (is_number(name) && !is_own(setting, std::atoi(name))) seen = name;
  }
  ::closedir(directory);
  return seen.empty() ? held(ENOENT) : opened("the first of them is " + seen);
}

// Any process but our own, our parent and pid 1, which have attempts of their own.
Outcome signal_others(const Setting& setting) {
  for (pid_t process = 2; process < 32'768; ++process) {
    if (is_own(setting, process) || process == setting.program_parent) continue;
    if (::kill(process, 0) == 0) return opened("the first of them is " + std::to_string(process));
  }
  return held(ESRCH);
}

Outcome signal_target(const Setting& setting) {
  if (setting.targets.process == 0) return not_applicable("no target was named: process");
  return from_call(::kill(setting.targets.process, 0));
}

Outcome target_root(const Setting& setting) {
  if (setting.targets.process == 0) return not_applicable("no target was named: process");
  return try_open(("/proc/" + std::to_string(setting.targets.process) + "/root/").c_str(),
                  O_RDONLY | O_DIRECTORY);
}

Outcome target_environment(const Setting& setting) {
  if (setting.targets.process == 0) return not_applicable("no target was named: process");
  return try_read(("/proc/" + std::to_string(setting.targets.process) + "/environ").c_str());
}

Outcome trace_target(const Setting& setting) {
  if (setting.targets.process == 0) return not_applicable("no target was named: process");
  return trace(setting.targets.process);
}

constexpr Attempt attempts[] = {
    {"read_environment_of_pid_1", "the secrets of whoever made the cell can be read",
     first_environment},
    {"read_command_of_pid_1", "it is known how the cell was made", first_command},
    {"open_root_of_pid_1", "the files of pid 1 can be reached", first_root},
    {"open_memory_of_pid_1", "the memory of pid 1 can be read", first_memory},
    {"list_descriptors_of_pid_1", "what pid 1 has open can be opened", first_descriptors},
    {"join_namespace_of_pid_1", "the namespaces of pid 1 can be entered", first_namespace},
    {"signal_pid_1", "the cell's pid 1 can be signalled, and the cell ended", signal_first},
    {"read_environment_of_parent", "the secrets of whoever started it can be read",
     parent_environment},
    {"open_memory_of_parent", "the memory of whoever started it can be read", parent_memory},
    {"trace_parent", "whoever started it can be steered", trace_parent},
    {"signal_parent", "whoever started it can be signalled", signal_parent},
    {"steal_descriptor_of_parent", "what the parent has open can be taken", steal_from_parent},
    {"trace_child", "another process of the server can be steered", trace_child, Danger::none,
     "ptrace"},
    {"be_traced", "a process can have itself steered", be_traced, Danger::none, "ptrace"},
    {"read_child_memory", "the memory of another process of the server can be read", read_child,
     Danger::none, "process_vm_readv"},
    {"write_child_memory", "the memory of another process of the server can be written",
     write_child, Danger::none, "process_vm_writev"},
    {"open_child_memory", "the memory of another process can be written as a file",
     open_child_memory},
    {"steal_descriptor_of_child", "what another process has open can be taken", steal_from_child,
     Danger::none, "pidfd_getfd"},
    {"compare_with_child", "kernel objects of processes can be compared", compare_with_child,
     Danger::none, "kcmp"},
    {"advise_child_memory", "the memory of another process can be pushed out", advise_child,
     Danger::none, "process_madvise"},
    {"see_other_processes", "processes outside are in sight", see_others},
    {"signal_other_processes", "processes outside can be signalled", signal_others},
    {"signal_host_process", "a process of the same user outside can be ended", signal_target},
    {"open_root_of_host_process", "the host's files can be reached through a process outside",
     target_root},
    {"read_environment_of_host_process", "secrets of a process outside can be read",
     target_environment},
    {"trace_host_process", "a process outside can be steered", trace_target},
};

}  // namespace

std::span<const Attempt> processes_attempts() { return attempts; }

}  // namespace cellblock::probe
