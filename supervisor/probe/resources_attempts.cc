#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>

#include "supervisor/probe/attempts.h"
#include "supervisor/probe/files_at_hand.h"

namespace cellblock::probe {
namespace {

// One more than it was given: soft towards hard is raising as well where the two are not the same.
Outcome raise_limit(__rlimit_resource resource) {
  struct rlimit limit{};
  ::getrlimit(resource, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return opened("it is unlimited");
  ++limit.rlim_cur;
  limit.rlim_max = std::max(limit.rlim_cur, limit.rlim_max);
  return from_call(::setrlimit(resource, &limit));
}
Outcome raise_open_files(const Setting&) { return raise_limit(RLIMIT_NOFILE); }
Outcome raise_processes(const Setting&) { return raise_limit(RLIMIT_NPROC); }
Outcome raise_locked_memory(const Setting&) { return raise_limit(RLIMIT_MEMLOCK); }
Outcome raise_signals(const Setting&) { return raise_limit(RLIMIT_SIGPENDING); }
Outcome raise_messages(const Setting&) { return raise_limit(RLIMIT_MSGQUEUE); }

Outcome dump_core(const Setting&) {
  struct rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  return limit.rlim_max == 0 ? held("its limit is 0 for good") : opened();
}

Outcome take_priority(const Setting&) { return from_call(::setpriority(PRIO_PROCESS, 0, -10)); }

Outcome run_real_time(const Setting&) {
  const sched_param parameters{1};
  return from_call(::sched_setscheduler(0, SCHED_RR, &parameters));
}

struct SchedulingAttributes {
  std::uint32_t size = 48, policy = 6;  // SCHED_DEADLINE
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 10'000'000, deadline = 30'000'000, period = 30'000'000;
};
Outcome run_by_deadline(const Setting&) {
  const SchedulingAttributes attributes;
  return from_call(::syscall(SYS_sched_setattr, 0, &attributes, 0));
}

Outcome lock_all_memory(const Setting&) { return from_call(::mlockall(MCL_CURRENT | MCL_FUTURE)); }

Outcome take_disk_priority(const Setting&) {
  constexpr int real_time = 1 << 13;
  return from_call(::syscall(SYS_ioprio_set, 1, 0, real_time));
}

Outcome escape_memory_killer(const Setting&) {
  const Open file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!file.valid()) return held(errno);
  return from_call(::write(file.get(), "-1000", 5));
}

Outcome make_huge_pages(const Setting&) {
  const void* mapped = ::mmap(nullptr, 2U << 20, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  return mapped == MAP_FAILED ? held(errno) : opened();
}

constexpr Attempt attempts[] = {
    {"raise_open_files", "more files can be held open than were given", raise_open_files},
    {"raise_processes", "more processes can be started than were given", raise_processes},
    {"raise_locked_memory", "more memory can be held than was given", raise_locked_memory},
    {"raise_pending_signals", "more of the kernel's memory can be held", raise_signals},
    {"raise_message_queues", "more of the kernel's memory can be held", raise_messages},
    {"dump_core", "its memory, with secrets, can end in a file", dump_core},
    {"take_priority", "others get less of the processor", take_priority},
    {"run_in_real_time", "others get nothing of the processor", run_real_time},
    {"run_by_deadline", "others get nothing of the processor", run_by_deadline},
    {"lock_all_memory", "its memory is never given back", lock_all_memory, Danger::none,
     "mlockall"},
    {"take_disk_priority", "others get nothing of the disk", take_disk_priority},
    {"escape_memory_killer", "others die when it has used up the memory", escape_memory_killer},
    {"take_huge_pages", "pages that others reserved are used up", make_huge_pages},
};

}  // namespace

std::span<const Attempt> resources_attempts() { return attempts; }

}  // namespace cellblock::probe
