#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/audit/chain.h"
#include "supervisor/ipc/wire.h"

/// The fields of the audit log's lines, as policy/audit/chain.h seals them. Pure. All ASCII
/// (everything else escaped), each beginning with a comma.
namespace cellblock::audit {

using WallTime = std::chrono::system_clock::time_point;

/// RFC 3339, UTC, milliseconds.
std::string text_of(WallTime time);

/// Which process sent a record.
enum class RecordOrigin : std::uint8_t { gateway, supervisor };

/// What the writer adds: nothing of it can be said by a gateway.
struct Stamp {
  std::string_view boot;  ///< of this writer
  std::string_view time;  ///< as text_of()
  std::uint32_t uid = 0;  ///< whose gateway
  std::uint64_t gateway = 0;
  RecordOrigin origin = RecordOrigin::gateway;
};

/// `text`: what follows the record. Nothing for a record that no honest gateway sends: an unknown
/// kind or outcome, a length over its field, a traceparent that is none, a reason without an end,
/// number 0, a text where its kind has none, a kind that is not of its origin.
std::optional<std::string> record_fields(const wire::AuditRecord& record, std::string_view text,
                                         const Stamp& stamp);

/// The name in the lines. The record must be sound.
std::string_view name_of(wire::AuditKind kind);
std::string_view name_of(wire::AuditOutcome outcome);
/// Empty: none.
std::string_view traceparent_of(const wire::AuditRecord& record);
/// ASCII without control characters, as in a JSON string.
std::string escaped(std::string_view text);

/// A writer's first line in a file.
struct Opening {
  std::string_view reason;  ///< "created", "continued" or "rotated"
  Sha256 former{};          ///< the hash that this line is chained to
  std::string_view torn;    ///< what the writer before left of its last line, newline apart
};

std::string opening_fields(const Opening& opening, std::string_view boot, WallTime time);

/// A writer's last line in a file: `reason` is "rotated" or "stopped".
std::string closing_fields(std::string_view reason, std::string_view boot, WallTime time);

}  // namespace cellblock::audit
