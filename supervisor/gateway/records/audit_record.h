#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/encoding/sha256.h"
#include "supervisor/gateway/message/audit_note.h"
#include "supervisor/ipc/wire.h"

/// A record of the audit log as it leaves the gateway.
namespace cellblock::gateway {

/// SHA-256 of a call's `arguments` (raw JSON), as canonical_json(); of `{}` where it is empty.
/// Zeros: it cannot be told.
Sha256 argument_digest(std::string_view arguments);

/// The party that a record is about.
struct AuditOrigin {
  std::int32_t pid = 0;  ///< of the host
  std::uint64_t session = 0;
  std::uint64_t cell = 0;
  std::string_view server;
};

/// A record and the text behind it in its packet, at most wire::max_audit_text bytes. A caller that
/// takes the record alone has one of a kind without a text.
struct AuditEntry : wire::AuditRecord {
  std::string text;
};

/// Text that is too long for its field is cut.
AuditEntry audit_record(const AuditOrigin& origin, const AuditNote& note);

}  // namespace cellblock::gateway
