#include "supervisor/gateway/records/audit_record.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "policy/json/canonical_json.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

Sha256 argument_digest(std::string_view arguments) {
  if (arguments.empty()) return sha256("{}");
  const auto text = canonical_text(arguments);
  return sha256(text ? *text : canonical_json(read_tree(arguments)));
}

namespace {

enum class Ending : std::uint8_t { by_length, by_nul };

template <std::size_t size>
std::uint8_t copy_into(std::array<char, size>& field, std::string_view text, Ending ending) {
  const std::size_t length = std::min(text.size(), ending == Ending::by_nul ? size - 1 : size);
  std::ranges::copy(text.substr(0, length), field.begin());
  return static_cast<std::uint8_t>(length);
}

}  // namespace

AuditEntry audit_record(const AuditOrigin& origin, const AuditNote& note) {
  AuditEntry record;
  record.kind = note.kind;
  record.outcome = note.outcome;
  record.pid = origin.pid;
  record.session = origin.session;
  record.cell = origin.cell;
  record.call = note.call;
  record.bytes = note.bytes;
  record.microseconds = note.microseconds;
  record.count = note.count;
  record.arguments = note.arguments;
  record.method = note.method;
  copy_into(record.traceparent, note.traceparent, Ending::by_length);
  record.text = note.text.substr(0, wire::max_audit_text);
  record.server_length = copy_into(record.server, origin.server, Ending::by_length);
  record.tool_length = copy_into(record.tool, note.tool, Ending::by_length);
  copy_into(record.reason, note.reason, Ending::by_nul);
  return record;
}

}  // namespace cellblock::gateway
