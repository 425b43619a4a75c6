#pragma once

#include <cstdint>
#include <string_view>

#include "supervisor/kernel/wire.h"

/// One thing worth recording, before it becomes an AuditRecord. The views live for the call that
/// hands it on.
namespace cellblock::gateway {

struct AuditNote {
  wire::AuditKind kind{};
  wire::AuditOutcome outcome = wire::AuditOutcome::none;
  std::string_view tool;    ///< or method
  std::string_view reason;  ///< a stable code
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;
  std::uint64_t microseconds = 0;
  std::uint64_t count = 1;
};

/// Which cell a note is about; both empty: none yet.
struct AuditPlace {
  std::string_view server;  ///< lives as long as the configuration
  std::uint64_t cell = 0;
};

}  // namespace cellblock::gateway
