#include "supervisor/gateway/audit_record.h"

#include <algorithm>
#include <array>

namespace cellblock::gateway {

namespace {

template <std::size_t size>
std::uint8_t copy_into(std::array<char, size>& field, std::string_view text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::ranges::copy(text.substr(0, length), field.begin());
  return static_cast<std::uint8_t>(length);
}

}  // namespace

wire::AuditRecord audit_record(const AuditOrigin& origin, const AuditNote& note) {
  wire::AuditRecord record;
  record.kind = note.kind;
  record.outcome = note.outcome;
  record.pid = origin.pid;
  record.session = origin.session;
  record.cell = origin.cell;
  record.call = note.call;
  record.bytes = note.bytes;
  record.microseconds = note.microseconds;
  record.count = note.count;
  record.server_length = copy_into(record.server, origin.server);
  record.tool_length = copy_into(record.tool, note.tool);
  copy_into(record.reason, note.reason);
  return record;
}

}  // namespace cellblock::gateway
