#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "policy/config/config.h"

/// A refused system call in words that an admin can act on.
namespace cellblock {

/// The TOML with which a server of these rules could make the call that it was refused, found by
/// asking the call table of the rules so changed; empty: nothing allows it. `words`:
/// syscall_table.h.
std::string remedy_for(std::int32_t number, const std::array<std::uint32_t, 3>& words,
                       const SyscallRules& rules, NetworkMode network);

struct DeniedCall {
  std::int32_t number = -1;  ///< of this architecture; -1: of many kinds, not told apart
  int error = 0;             ///< errno that the caller got
  std::array<std::uint32_t, 3> words{};  ///< syscall_table.h
};

struct DenialText {
  std::string call;          ///< "socket(AF_INET)", "mount", "ioctl(TIOCSTI)"
  std::string reason;        ///< what refused it: "namespaces: a new user namespace would ..."
  std::string remedy;        ///< the TOML that allows it; empty: nothing does
  bool is_harmless = false;  ///< the caller goes on without it: nothing needs to be allowed
};

DenialText describe(const DeniedCall& denied, const SyscallRules& rules, NetworkMode network);

/// The first part alone, for audit records.
std::string name_of(const DeniedCall& denied);

}  // namespace cellblock
