#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/ipc/wire.h"

namespace cellblock::gateway {

/// Whose doing a record is about.
struct AuditOrigin {
  std::int32_t pid = 0;  ///< of the host
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  std::string_view server;
};

/// A record and what follows it in its packet, which is at most wire::max_audit_text. Whoever takes
/// the record alone has one of a kind without a text.
struct AuditEntry : wire::AuditRecord {
  std::string text;
};

/// Text that is too long for its field is cut.
AuditEntry audit_record(const AuditOrigin& origin, const AuditNote& note);

}  // namespace cellblock::gateway
