#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "policy/encoding/sha256.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// One thing worth recording, before it becomes an AuditRecord. The views live for the call that
/// hands it on.
namespace cellblock::gateway {

enum class AuditState : std::uint8_t { writable, broken };

/// broken: what was recorded is not in the log.
using WhenRecorded = std::function<void(AuditState, Time now)>;

struct AuditNote {
  wire::AuditKind kind{};
  wire::AuditOutcome outcome = wire::AuditOutcome::none;
  std::string_view tool;    ///< or method
  std::string_view reason;  ///< a stable code
  std::uint64_t call = 0;
  std::uint64_t bytes = 0;
  std::uint64_t microseconds = 0;
  std::uint64_t count = 1;
  Sha256 arguments{};                                        ///< of a call; zeros: none are told
  wire::AuditMethod method = wire::AuditMethod::tools_call;  ///< of a call
  std::string_view traceparent;  ///< of the caller's span, if it names one
  std::string_view text;  ///< of a call: its arguments as they may be told; empty: they are not
};

/// Which cell a note is about; both empty: none yet.
struct AuditPlace {
  std::string_view server;  ///< lives as long as the configuration
  std::uint64_t cell = 0;
};

}  // namespace cellblock::gateway
