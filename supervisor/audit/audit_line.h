#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/kernel/wire.h"

/// One audit record as one line of JSON. Pure.
namespace cellblock::audit {

/// What the writer adds: nothing of it can be said by a gateway.
struct Stamp {
  std::string_view boot;  ///< of this writer; with `sequence` it names a line
  std::uint64_t sequence = 0;
  std::chrono::system_clock::time_point time;
  std::uint32_t uid = 0;  ///< whose gateway
};

/// With a newline, ASCII only (everything else escaped). Nothing for a record that no honest
/// gateway sends: an unknown kind or outcome, a length over its field, a reason without an end.
std::optional<std::string> audit_line(const wire::AuditRecord& record, const Stamp& stamp);

}  // namespace cellblock::audit
