#pragma once

#include <expected>

#include "policy/failures/end_facts.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/sys.h"

namespace cellblock::launcher {

/// A step on the launcher's side that failed.
struct SetupFailure {
  SetupStep step = SetupStep::none;
  int error = 0;
  int path_index = -1;  ///< which of the server's binds, or -1
  ExecDetail detail = ExecDetail::none;
  wire::StartRefusal refusal = wire::StartRefusal::setup_failed;  ///< how a gateway is told

  CellFacts facts() const {
    return CellFacts{.kind = EndKind::setup_failed,
                     .step = step,
                     .detail = detail,
                     .error = error,
                     .path_index = path_index};
  }
};

template <class T>
using SetupResult = std::expected<T, SetupFailure>;

inline std::unexpected<SetupFailure> failed_at(SetupStep step, const SysError& error,
                                               int path_index = -1) {
  return std::unexpected(SetupFailure{step, error.number, path_index});
}

}  // namespace cellblock::launcher
