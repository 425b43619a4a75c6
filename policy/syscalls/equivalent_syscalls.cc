#include "policy/syscalls/equivalent_syscalls.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "policy/syscalls/syscall_groups.h"
#include "policy/syscalls/syscall_table.h"

namespace cellblock {
namespace {

using Family = std::span<const std::string_view>;

constexpr std::string_view modes[] = {"chmod", "fchmod", "fchmodat", "fchmodat2"};
constexpr std::string_view owners[] = {"chown", "fchown", "lchown", "fchownat"};
constexpr std::string_view removals[] = {"unlink", "unlinkat", "rmdir"};
constexpr std::string_view renames[] = {"rename", "renameat", "renameat2"};
constexpr std::string_view links[] = {"link", "linkat"};
constexpr std::string_view symlinks[] = {"symlink", "symlinkat"};
constexpr std::string_view directories[] = {"mkdir", "mkdirat"};
constexpr std::string_view nodes[] = {"mknod", "mknodat"};
constexpr std::string_view lengths[] = {"truncate", "ftruncate"};
constexpr std::string_view times[] = {"utime", "utimes", "utimensat", "futimesat"};
constexpr std::string_view attributes[] = {"setxattr", "lsetxattr", "fsetxattr", "setxattrat"};
constexpr std::string_view lost_attributes[] = {"removexattr", "lremovexattr", "fremovexattr",
                                                "removexattrat"};
constexpr std::string_view opens[] = {"open", "openat", "openat2", "creat"};
constexpr std::string_view signals[] = {
    "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"};
constexpr std::string_view processes[] = {"fork", "vfork", "clone", "clone3"};
constexpr std::string_view programs[] = {"execve", "execveat"};
constexpr std::string_view listings[] = {"getdents", "getdents64"};
constexpr std::string_view accepts[] = {"accept", "accept4"};

constexpr Family families[] = {modes,      owners,          removals, renames, links,
                               symlinks,   directories,     nodes,    lengths, times,
                               attributes, lost_attributes, opens,    signals, processes,
                               programs,   listings,        accepts};

bool names(const std::vector<std::string>& list, std::string_view call) {
  return std::ranges::find(list, call) != list.end();
}

// With some arguments at least.
bool is_made(const SyscallTable& base, const SyscallRules& rules, std::string_view call) {
  if (names(rules.allow, call)) return true;
  const SyscallAnswer* answer = find_syscall(base, call);
  return answer != nullptr && (answer->otherwise == 0 || !answer->rules.empty());
}

}  // namespace

std::vector<OpenFamily> open_families(const SyscallRules& rules) {
  std::vector<OpenFamily> open;
  const SyscallTable base = syscall_table(syscall_policy(rules.base, NetworkMode::loopback));
  for (const Family& family : families) {
    OpenFamily found;
    for (const std::string_view call : family) {
      if (names(rules.refuse, call)) {
        found.refused.emplace_back(call);
      } else if (is_made(base, rules, call)) {
        found.left.emplace_back(call);
      }
    }
    if (!found.refused.empty() && !found.left.empty()) open.push_back(std::move(found));
  }
  return open;
}

}  // namespace cellblock
