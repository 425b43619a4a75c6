#pragma once

#include <cstddef>
#include <cstdint>

#include "policy/audit/chain.h"

namespace cellblock::gateway {

enum class LogHealth : std::uint8_t { written, unwritable };

/// How it stands with the audit log, as one gateway sees it.
struct AuditHealth {
  LogHealth log = LogHealth::written;
  std::size_t waiting = 0;  ///< records that are not known to be in the log
  audit::ChainPoint last;   ///< the log's last line when the writer last told; sequence 0: never
};

}  // namespace cellblock::gateway
