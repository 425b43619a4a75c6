#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

/// wire.h for what cellblock's own processes in cells say: launcher -> supervisor, over
/// launcher_fd::log; fds: what that process says on stdout and stderr.
namespace cellblock::wire {

enum class OwnProgram : std::uint8_t { gateway = 1, audit = 2, http = 3, metrics = 4, egress = 5 };

struct LogPipe {
  OwnProgram program{};
  std::array<std::uint8_t, 3> reserved{};
  std::uint32_t uid = 0;  ///< gateway: whose
};

static_assert(std::is_trivially_copyable_v<LogPipe>);

}  // namespace cellblock::wire
