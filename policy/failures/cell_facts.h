#pragma once

#include <cstdint>

#include "policy/failures/setup_step.h"

namespace cellblock {

enum class EndKind : std::uint8_t {
  not_ended = 0,
  setup_failed,      ///< `step`, `error`, `detail`, `path_index` say where
  exited,            ///< `exit_code`
  signalled,         ///< `signal`
  killed_by_filter,  ///< `syscall_arch` and `syscall_number` name the refused call
  out_of_memory,     ///< the group went over memory.max and all of it was killed
  egress_ended,      ///< its egress helper ended, all of it was killed; `step`, `error`,
                     ///< `exit_code` and `signal` are the helper's
};

/// CellFacts::path_index, where it is no bind that failed but the server's image.
inline constexpr std::int32_t path_of_image = -2;

/// Fixed size, no pointers: crosses from the launcher to a gateway as it is (wire.h).
struct CellFacts {
  EndKind kind = EndKind::not_ended;
  SetupStep step = SetupStep::none;
  ExecDetail detail = ExecDetail::none;
  std::uint8_t core_dumped = 0;
  std::int32_t error = 0;  ///< errno of the failed step
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::int32_t path_index = -1;    ///< which bind of the server's list failed, path_of_image or -1
  std::uint32_t syscall_arch = 0;  ///< AUDIT_ARCH_*
  std::int32_t syscall_number = -1;
  std::uint64_t cpu_microseconds = 0;
  std::uint64_t max_rss_kib = 0;
  std::uint64_t memory_peak = 0;  ///< bytes, of the whole group with its tmpfs; 0: not known
  std::uint32_t pids_peak = 0;    ///< 0: not known
  std::uint32_t oom_kills = 0;

  bool operator==(const CellFacts&) const = default;
};

}  // namespace cellblock
