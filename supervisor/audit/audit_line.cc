#include "supervisor/audit/audit_line.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace cellblock::audit {
namespace {

// By number; 0 is no kind.
constexpr std::array<std::string_view, 12> kinds{
    "",        "session_opened", "session_closed", "attach",
    "call",    "call_ended",     "cell_started",   "cell_ended",
    "refused", "egress",         "denied",         "label"};
constexpr std::array<std::string_view, 5> outcomes{"none", "ok", "error", "denied", "cancelled"};

static_assert(kinds.size() == static_cast<std::size_t>(wire::AuditKind::label) + 1);
static_assert(outcomes.size() == static_cast<std::size_t>(wire::AuditOutcome::cancelled) + 1);

bool is_sound(const wire::AuditRecord& record) {
  const auto kind = static_cast<std::size_t>(record.kind);
  const auto outcome = static_cast<std::size_t>(record.outcome);
  return kind > 0 && kind < kinds.size() && outcome < outcomes.size() &&
         record.server_length <= record.server.size() && record.tool_length <= record.tool.size() &&
         std::find(record.reason.begin(), record.reason.end(), '\0') != record.reason.end();
}

// Escaped to ASCII, so that neither a terminal nor a parser can be led astray by a tool's name.
std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// RFC 3339, UTC, milliseconds.
std::string text_of(std::chrono::system_clock::time_point time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())),
                     (since_epoch - seconds).count());
}

}  // namespace

std::optional<std::string> audit_line(const wire::AuditRecord& record, const Stamp& stamp) {
  if (!is_sound(record)) return std::nullopt;
  // Only three fields are text of somebody else's; a tree for the rest would cost more than all
  // else that happens to a call.
  return fmt::format(
      R"({{"boot":"{}","seq":{},"time":"{}","uid":{},"pid":{},"kind":"{}","outcome":"{}",)"
      R"("server":{},"session":{},"cell":{},"call":{},"tool":{},"reason":{},"bytes":{},"us":{},"count":{}}})"
      "\n",
      stamp.boot, stamp.sequence, text_of(stamp.time), stamp.uid, record.pid,
      kinds.at(static_cast<std::size_t>(record.kind)),
      outcomes.at(static_cast<std::size_t>(record.outcome)),
      quoted({record.server.data(), record.server_length}), record.session, record.cell,
      record.call, quoted({record.tool.data(), record.tool_length}), quoted(record.reason.data()),
      record.bytes, record.microseconds, record.count);
}

}  // namespace cellblock::audit
