#include "policy/syscalls/syscall_table.h"

#include <sys/syscall.h>

#include <algorithm>

#include "policy/syscalls/syscall_arguments.h"

namespace cellblock {
namespace {

void append(SyscallTable& table, const SyscallGroup& group) {
  for (const std::string_view name : group.calls) {
    table.calls.push_back({std::string(name), group.name, group.reason, {}, 0});
  }
  for (const RuledCall& call : group.ruled) {
    table.calls.push_back({std::string(call.name), group.name, call.reason, call.rules,
                           call.otherwise, call.reporting});
  }
}

void append(SyscallTable& table, const RefusedCalls& refused) {
  for (const std::string_view name : refused.calls) {
    table.calls.push_back(
        {std::string(name), refused.name, refused.reason, {}, refused.error, refused.reporting});
  }
}

}  // namespace

SyscallTable syscall_table(const SyscallPolicy& policy) {
  SyscallTable table{{}, policy.unlisted, policy.foreign, policy.reporting};
  for (const SyscallGroup* group : policy.groups) append(table, *group);
  for (const RefusedCalls* refused : policy.refused) append(table, *refused);
  return table;
}

const SyscallAnswer* find_syscall(const SyscallTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.calls, name, &SyscallAnswer::name);
  return found == table.calls.end() ? nullptr : &*found;
}

int error_of(std::span<const ArgumentRule> rules, int otherwise, const ArgumentWords& words) {
  const auto holds = [&](const ArgumentTest& test) {
    return (words.at(test.argument) & test.mask) == test.value;
  };
  for (const ArgumentRule& rule : rules) {
    if (std::ranges::all_of(rule.all_tests(), holds)) return rule.error;
  }
  return otherwise;
}

namespace {

constexpr std::uint32_t whole = 0xffff'ffff;

constexpr std::int32_t fchmodat2 = 452;  // newer than some headers

struct Telling {
  std::int32_t number;
  std::array<std::uint32_t, 3> masks;
};

constexpr std::uint32_t type = ~std::uint32_t{SOCK_CLOEXEC | SOCK_NONBLOCK};

constexpr Telling telling[] = {
    {SYS_socket, {whole, type, whole}},
    {SYS_socketpair, {whole, type, whole}},
    {SYS_ioctl, {0, whole, 0}},
    {SYS_prctl, {whole, 0, 0}},
    {SYS_personality, {whole, 0, 0}},
    {SYS_clone, {argument_rules::new_namespace, 0, 0}},
    {SYS_unshare, {whole, 0, 0}},
    {SYS_mmap, {0, 0, whole}},
    {SYS_mprotect, {0, 0, whole}},
    {SYS_pkey_mprotect, {0, 0, whole}},
    {SYS_shmat, {0, 0, SHM_EXEC}},
    {SYS_seccomp, {whole, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0}},
    {SYS_fchmod, {0, argument_rules::identity_bits, 0}},
    {SYS_fchmodat, {0, 0, argument_rules::identity_bits}},
    {SYS_mknodat, {0, 0, S_IFMT | argument_rules::identity_bits}},
    {fchmodat2, {0, 0, argument_rules::identity_bits}},
#ifdef SYS_open
    {SYS_open, {0, argument_rules::makes_a_file, argument_rules::identity_bits}},
    {SYS_creat, {0, argument_rules::identity_bits, 0}},
    {SYS_chmod, {0, argument_rules::identity_bits, 0}},
    {SYS_mknod, {0, S_IFMT | argument_rules::identity_bits, 0}},
#endif
};

}  // namespace

std::array<std::uint32_t, 3> reported_words(std::int32_t number, const ArgumentWords& words) {
  const auto* found = std::ranges::find(telling, number, &Telling::number);
  if (found == std::end(telling)) return {};
  return {words[0] & found->masks[0], words[1] & found->masks[1], words[2] & found->masks[2]};
}

bool has_reported_words(std::int32_t number) {
  return std::ranges::find(telling, number, &Telling::number) != std::end(telling);
}

}  // namespace cellblock
