#pragma once

#include <cstdint>
#include <string_view>

#include "supervisor/gateway/audit/audit_note.h"
#include "supervisor/kernel/wire.h"

namespace cellblock::gateway {

/// Whose doing a record is about.
struct AuditOrigin {
  std::int32_t pid = 0;  ///< of the host
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  std::string_view server;
};

/// Text that is too long for its field is cut.
wire::AuditRecord audit_record(const AuditOrigin& origin, const AuditNote& note);

}  // namespace cellblock::gateway
