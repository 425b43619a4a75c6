#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "policy/config/config.h"

namespace cellblock {

/// The TOML with which a server of these rules could make the call that it was refused, found by
/// asking the call table of the rules so changed; empty: nothing allows it. `words`:
/// significant_arguments.h.
std::string remedy_for(std::int32_t number, const std::array<std::uint32_t, 3>& words,
                       const SyscallRules& rules, NetworkMode network);

}  // namespace cellblock
