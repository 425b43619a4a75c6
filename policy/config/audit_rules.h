#pragma once

#include <cstdint>

namespace cellblock {

/// When the audit log cannot be written.
enum class AuditFailure : std::uint8_t {
  refuse,  ///< nothing new is called
  alarm,   ///< it is logged, and calls go on unrecorded
};

/// What of a call's arguments is recorded.
enum class AuditArguments : std::uint8_t {
  digest,
  none,
  redacted,  ///< beside the digest a text, of which what may not be there is taken out
};

/// From when on a record counts as written.
enum class AuditDurability : std::uint8_t {
  written,  ///< the kernel has it: no process's end loses it
  synced,   ///< the disk has it: no loss of power does
};

/// What of the log the system's journal is told as well.
enum class AuditJournal : std::uint8_t { off, all };

struct AuditRules {
  std::uint64_t max_bytes = 64ULL << 20;  ///< from which on the log goes on in its next file
  std::uint32_t keep = 15;                ///< full files beside that; 0: one that only grows
  AuditFailure on_failure = AuditFailure::refuse;
  AuditArguments arguments = AuditArguments::digest;
  AuditDurability durability = AuditDurability::written;
  AuditJournal journal = AuditJournal::off;
  bool operator==(const AuditRules&) const = default;
};

}  // namespace cellblock
