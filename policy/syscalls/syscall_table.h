#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/syscalls/syscall_policy.h"

/// A policy with one line for each call: what a filter is compiled from, and what a refusal is
/// explained by.
namespace cellblock {

/// How one call is answered: the first rule that holds, else `otherwise`.
struct SyscallAnswer {
  std::string name;
  std::string_view group;  ///< static storage, like `reason` and `rules`
  std::string_view reason;
  std::span<const ArgumentRule> rules;
  int otherwise = 0;                          ///< 0: the call is made; else its errno
  Reporting reporting = Reporting::reported;  ///< of `otherwise`
};

struct SyscallTable {
  std::vector<SyscallAnswer> calls;  ///< each name once
  UnlistedCall unlisted = UnlistedCall::not_implemented;
  ForeignCall foreign = ForeignCall::kill_process;
  Reporting reporting = Reporting::quiet;  ///< as in SyscallPolicy
};

SyscallTable syscall_table(const SyscallPolicy& policy);

/// nullptr: not in the table. The result is the table's.
const SyscallAnswer* find_syscall(const SyscallTable& table, std::string_view name);

/// The low words of a call's arguments.
using ArgumentWords = std::array<std::uint32_t, 6>;

/// 0: the call is made; else its errno.
int error_of(std::span<const ArgumentRule> rules, int otherwise, const ArgumentWords& words);

/// Of a call's first three arguments those that tell what was asked for: a family, a request,
/// flags. The others are 0: pointers and lengths tell nothing, and would make each call a kind of
/// its own.
std::array<std::uint32_t, 3> reported_words(std::int32_t number, const ArgumentWords& words);

/// Whether they tell all that the rules of this call look at: not of openat, whose mode is the
/// fourth.
bool has_reported_words(std::int32_t number);

}  // namespace cellblock
