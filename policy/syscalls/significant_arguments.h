#pragma once

#include <array>
#include <cstdint>

#include "policy/syscalls/syscall_table.h"

namespace cellblock {

/// Of the first three arguments of a call those that tell what was asked for: a family, a request,
/// flags. The others are 0: pointers and lengths tell nothing, and would make each call a kind of
/// its own.
std::array<std::uint32_t, 3> telling_words(std::int32_t number, const ArgumentWords& words);

/// Whether they tell all that the rules of this call look at: not of openat, whose mode is the
/// fourth.
bool has_telling_words(std::int32_t number);

}  // namespace cellblock
