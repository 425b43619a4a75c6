#pragma once

#include <cstdint>

namespace cellblock::launcher {

/// Init and guardian (init.h), which stay in a cell and count against its limit of processes.
inline constexpr std::uint64_t own_processes = 2;

}  // namespace cellblock::launcher
