#include "supervisor/audit/audit_line.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

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

// Only the supervisor records the kill switch: a gateway that has been taken over could say that
// an administrator had been there.
bool may_record(RecordOrigin origin, wire::AuditKind kind) {
  return (origin == RecordOrigin::supervisor) == (kind == wire::AuditKind::switched);
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

bool has_arguments(const wire::AuditRecord& record) {
  return std::ranges::any_of(record.arguments, [](std::uint8_t byte) { return byte != 0; });
}

// A line's members one after the other, each behind a comma. Two lines are written for every call,
// and a tree, or a format that is read each time, would take longer than all else in them.
class Members {
 public:
  Members() { text_.reserve(usual_size); }

  /// `value` has nothing to escape.
  Members& plain(std::string_view name, std::string_view value) {
    begin(name).append(1, '"').append(value).append(1, '"');
    return *this;
  }
  Members& quoted(std::string_view name, std::string_view value) {
    if (std::ranges::all_of(value, is_plain)) return plain(name, value);
    begin(name).append(audit::quoted(value));
    return *this;
  }
  Members& number(std::string_view name, std::integral auto value) {
    std::array<char, 20> digits{};  // of a 64-bit number with its sign
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    begin(name).append(digits.data(), written.ptr);
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  static constexpr std::size_t usual_size = 640;

  std::string& begin(std::string_view name) {
    return text_.append(",\"").append(name).append("\":");
  }

  std::string text_;
};

}  // namespace

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
  if (!is_sound(record) || !may_record(stamp.origin, record.kind)) return std::nullopt;
  const std::string_view name = text_name(record.kind);
  if (!text.empty() && name.empty()) return std::nullopt;
  Members line;
  line.plain("boot", stamp.boot)
      .plain("time", stamp.time)
      .number("uid", stamp.uid)
      .plain("gateway", fmt::format(FMT_COMPILE("{:016x}"), stamp.gateway))
      .number("n", record.number)
      .number("pid", record.pid)
      .plain("kind", name_of(record.kind))
      .plain("outcome", name_of(record.outcome))
      .quoted("server", {record.server.data(), record.server_length})
      .number("session", record.session)
      .number("cell", record.cell)
      .number("call", record.call)
      .quoted("tool", {record.tool.data(), record.tool_length})
      .quoted("reason", record.reason.data())
      .number("bytes", record.bytes)
      .number("us", record.microseconds)
      .number("count", record.count);
  if (record.method != wire::AuditMethod::tools_call) {
    line.plain("method", methods.at(static_cast<std::size_t>(record.method)));
  }
  if (has_arguments(record)) line.plain("arguments_sha256", hex_of(record.arguments));
  if (const auto traceparent = traceparent_of(record); !traceparent.empty()) {
    line.plain("traceparent", traceparent);
  }
  if (!text.empty()) line.quoted(name, text);
  return line.take();
}

std::string opening_fields(const Opening& opening, std::string_view boot, WallTime time) {
  Members line;
  line.plain("boot", boot)
      .plain("time", text_of(time))
      .plain("kind", "log_opened")
      .plain("reason", opening.reason)
      .plain("previous", hex_of(opening.former))
      .number("format", log_format);
  if (opening.torn.empty()) return line.take();
  line.number("torn_bytes", opening.torn.size()).plain("torn_sha256", hex_of(sha256(opening.torn)));
  return line.take();
}

std::string closing_fields(std::string_view reason, std::string_view boot, WallTime time) {
  Members line;
  line.plain("boot", boot)
      .plain("time", text_of(time))
      .plain("kind", "log_closed")
      .plain("reason", reason);
  return line.take();
}

}  // namespace cellblock::audit
