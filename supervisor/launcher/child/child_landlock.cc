#include "supervisor/launcher/child/child_landlock.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "supervisor/launcher/child/landlock_rights.h"

namespace cellblock::launcher {
namespace {

// The kernel's structures as of ABI 6. An older kernel accepts the longer form while what it does
// not know is zero.
struct RulesetWords {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

struct __attribute__((packed)) PathWords {
  std::uint64_t access;
  std::int32_t descriptor;
};

struct PortWords {
  std::uint64_t access;
  std::uint64_t port;
};

bool close_keeping_errno(int descriptor, bool done) {
  const int error = errno;
  close(descriptor);
  errno = error;
  return done;
}

// A directory that the server writes may hold a link where a mount point was declared; a rule must
// not go where that leads.
int open_place(const char* path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how));
}

bool permit(int ruleset, int place, std::uint64_t access) {
  struct stat found{};
  if (fstat(place, &found) < 0) return false;
  const std::uint64_t possible = S_ISDIR(found.st_mode) ? access : access & landlock::of_files;
  const PathWords words{possible, place};
  return syscall(SYS_landlock_add_rule, ruleset, landlock::rule_path_beneath, &words, 0) == 0;
}

bool add_paths(int ruleset, const LandlockRuleset& plan) {
  for (const LandlockPathRule& rule : plan.paths) {
    const int place = open_place(rule.path.c_str());
    if (place < 0) return false;
    if (!close_keeping_errno(place, permit(ruleset, place, rule.access))) return false;
  }
  return true;
}

bool add_ports(int ruleset, const LandlockRuleset& plan) {
  for (const LandlockPortRule& rule : plan.ports) {
    const PortWords words{rule.access, rule.port};
    if (syscall(SYS_landlock_add_rule, ruleset, landlock::rule_net_port, &words, 0) < 0) {
      return false;
    }
  }
  return true;
}

// One of cellblock's programs lies outside the cell: only this descriptor leads to it.
bool add_program(int ruleset, const ChildPlan& plan) {
  constexpr std::uint64_t run = landlock::execute | landlock::read_file;
  return plan.program < 0 || permit(ruleset, plan.program, run);
}

bool fill_and_enter(int ruleset, const ChildPlan& plan) {
  return add_paths(ruleset, *plan.landlock) && add_ports(ruleset, *plan.landlock) &&
         add_program(ruleset, plan) && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

}  // namespace

bool enter_landlock(ChildPlan& plan) {
  const LandlockRuleset& wanted = *plan.landlock;
  if ((wanted.files | wanted.network | wanted.scopes) == 0) return true;
  const RulesetWords words{wanted.files, wanted.network, wanted.scopes};
  const long ruleset = syscall(SYS_landlock_create_ruleset, &words, sizeof words, 0);
  if (ruleset < 0) return false;
  return close_keeping_errno(static_cast<int>(ruleset),
                             fill_and_enter(static_cast<int>(ruleset), plan));
}

}  // namespace cellblock::launcher
