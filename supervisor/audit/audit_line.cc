#include "supervisor/audit/audit_line.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "policy/audit/chain.h"

namespace cellblock::audit {
namespace {

// By number; 0 is no kind.
constexpr std::array<std::string_view, 17> kinds{
    "",        "session_opened", "session_closed", "attach",
    "call",    "call_ended",     "cell_started",   "cell_ended",
    "refused", "egress",         "denied",         "label",
    "pin",     "approval",       "switched",       "finding",
    "flow"};
constexpr std::array<std::string_view, 5> outcomes{"none", "ok", "error", "denied", "cancelled"};

constexpr std::array<std::string_view, 3> methods{"tools/call", "resources/read", "prompts/get"};

static_assert(kinds.size() == static_cast<std::size_t>(wire::AuditKind::flow) + 1);
static_assert(outcomes.size() == static_cast<std::size_t>(wire::AuditOutcome::cancelled) + 1);

bool is_sound(const wire::AuditRecord& record) {
  const auto kind = static_cast<std::size_t>(record.kind);
  const auto outcome = static_cast<std::size_t>(record.outcome);
  const std::string_view traceparent = traceparent_of(record);
  return record.number > 0 && kind > 0 && kind < kinds.size() && outcome < outcomes.size() &&
         static_cast<std::size_t>(record.method) < methods.size() &&
         (traceparent.empty() || is_traceparent(traceparent)) &&
         record.server_length <= record.server.size() && record.tool_length <= record.tool.size() &&
         std::find(record.reason.begin(), record.reason.end(), '\0') != record.reason.end();
}

// A switch is the supervisor's alone to tell of: a gateway that has been taken over could say that
// an administrator had been there.
bool may_tell(Teller teller, wire::AuditKind kind) {
  return (teller == Teller::supervisor) == (kind == wire::AuditKind::switched);
}

// What its text is called in the line; empty: it has none.
std::string_view text_name(wire::AuditKind kind) {
  if (kind == wire::AuditKind::call) return "arguments";
  return kind == wire::AuditKind::switched ? "text" : "";
}

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// Escaped to ASCII, so that neither a terminal nor a parser can be led astray by a tool's name.
// Few texts have anything to escape, and the general way takes longer than all else in a line.
std::string quoted(std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) return '"' + std::string(text) + '"';
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// RFC 3339, UTC, milliseconds.
std::string text_of(WallTime time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(since_epoch);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(since_epoch - day);
  return fmt::format(FMT_COMPILE("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z"),
                     static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

bool has_arguments(const wire::AuditRecord& record) {
  return std::ranges::any_of(record.arguments, [](std::uint8_t byte) { return byte != 0; });
}

}  // namespace

std::string_view name_of(wire::AuditKind kind) { return kinds.at(static_cast<std::size_t>(kind)); }

std::string_view name_of(wire::AuditOutcome outcome) {
  return outcomes.at(static_cast<std::size_t>(outcome));
}

std::string_view traceparent_of(const wire::AuditRecord& record) {
  if (record.traceparent.front() == '\0') return {};
  return {record.traceparent.data(), record.traceparent.size()};
}

std::string escaped(std::string_view text) {
  const std::string whole = quoted(text);
  return whole.substr(1, whole.size() - 2);
}

std::optional<std::string> record_fields(const wire::AuditRecord& record, std::string_view text,
                                         const Stamp& stamp) {
  if (!is_sound(record) || !may_tell(stamp.teller, record.kind)) return std::nullopt;
  const std::string_view name = text_name(record.kind);
  if (!text.empty() && name.empty()) return std::nullopt;
  // Only three fields are text of somebody else's; a tree for the rest would cost more than all
  // else that happens to a call.
  std::string fields = fmt::format(
      FMT_COMPILE(
          R"(,"boot":"{}","time":"{}","uid":{},"gateway":"{:016x}","n":{},"pid":{},"kind":"{}",)"
          R"("outcome":"{}","server":{},"session":{},"cell":{},"call":{},"tool":{},"reason":{},)"
          R"("bytes":{},"us":{},"count":{})"),
      stamp.boot, text_of(stamp.time), stamp.uid, stamp.gateway, record.number, record.pid,
      kinds.at(static_cast<std::size_t>(record.kind)),
      outcomes.at(static_cast<std::size_t>(record.outcome)),
      quoted({record.server.data(), record.server_length}), record.session, record.cell,
      record.call, quoted({record.tool.data(), record.tool_length}), quoted(record.reason.data()),
      record.bytes, record.microseconds, record.count);
  if (record.method != wire::AuditMethod::tools_call) {
    fields += fmt::format(R"(,"method":"{}")", methods.at(static_cast<std::size_t>(record.method)));
  }
  if (has_arguments(record)) {
    fields += fmt::format(R"(,"arguments_sha256":"{}")", hex_of(record.arguments));
  }
  if (const auto traceparent = traceparent_of(record); !traceparent.empty()) {
    fields += fmt::format(R"(,"traceparent":"{}")", traceparent);
  }
  if (!text.empty()) fields += fmt::format(R"(,"{}":{})", name, quoted(text));
  return fields;
}

Result<std::string> opening_fields(const Opening& opening, std::string_view boot, WallTime time) {
  std::string fields =
      fmt::format(R"(,"boot":"{}","time":"{}","kind":"log_opened","reason":"{}","previous":"{}",)"
                  R"("format":{})",
                  boot, text_of(time), opening.reason, hex_of(opening.former), log_format);
  if (opening.torn.empty()) return fields;
  const Sha256 torn = CELLBLOCK_TRY(sha256(opening.torn));
  return fields +
         fmt::format(R"(,"torn_bytes":{},"torn_sha256":"{}")", opening.torn.size(), hex_of(torn));
}

std::string closing_fields(std::string_view reason, std::string_view boot, WallTime time) {
  return fmt::format(R"(,"boot":"{}","time":"{}","kind":"log_closed","reason":"{}")", boot,
                     text_of(time), reason);
}

}  // namespace cellblock::audit
