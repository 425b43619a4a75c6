#include "supervisor/audit/audit_line.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

namespace cellblock::audit {
namespace {

// By number; 0 is no kind.
constexpr std::array<std::string_view, 9> kinds{
    "",           "session_opened", "session_closed", "attach", "call",
    "call_ended", "cell_started",   "cell_ended",     "refused"};
constexpr std::array<std::string_view, 5> outcomes{"none", "ok", "error", "denied", "cancelled"};

static_assert(kinds.size() == static_cast<std::size_t>(wire::AuditKind::refused) + 1);
static_assert(outcomes.size() == static_cast<std::size_t>(wire::AuditOutcome::cancelled) + 1);

bool is_sound(const wire::AuditRecord& record) {
  const auto kind = static_cast<std::size_t>(record.kind);
  const auto outcome = static_cast<std::size_t>(record.outcome);
  return kind > 0 && kind < kinds.size() && outcome < outcomes.size() &&
         record.server_length <= record.server.size() && record.tool_length <= record.tool.size() &&
         std::find(record.reason.begin(), record.reason.end(), '\0') != record.reason.end();
}

std::string text_of(std::span<const char> field, std::size_t length) {
  return {field.data(), length};
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
  nlohmann::ordered_json line;
  line["boot"] = stamp.boot;
  line["seq"] = stamp.sequence;
  line["time"] = text_of(stamp.time);
  line["uid"] = stamp.uid;
  line["pid"] = record.pid;
  line["kind"] = kinds.at(static_cast<std::size_t>(record.kind));
  line["outcome"] = outcomes.at(static_cast<std::size_t>(record.outcome));
  line["server"] = text_of(record.server, record.server_length);
  line["session"] = record.session;
  line["cell"] = record.cell;
  line["call"] = record.call;
  line["tool"] = text_of(record.tool, record.tool_length);
  line["reason"] = std::string(record.reason.data());
  line["bytes"] = record.bytes;
  line["us"] = record.microseconds;
  // Escaped to ASCII, so that neither a terminal nor a parser can be led astray by a tool's name.
  return line.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace cellblock::audit
