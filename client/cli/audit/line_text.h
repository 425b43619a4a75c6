#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/cli/terminal/style.h"
#include "policy/audit/log_verifier.h"
#include "policy/base/result.h"

/// The audit log for people: one line of it, and the report about its chain.
namespace cellblock::cli {

/// What lines of the audit log are about: their `kind` (docs/audit.md).
inline constexpr std::array<std::string_view, 18> audit_kinds{
    "session_opened", "session_closed", "attach",       "label",      "call",       "call_ended",
    "refused",        "denied",         "cell_started", "cell_ended", "egress",     "pin",
    "approval",       "switched",       "finding",      "flow",       "log_opened", "log_closed"};

/// The time zone of shown times; the log has UTC.
enum class ShownTime : std::uint8_t { utc, local };

/// One line of the audit log for a person: when, who, what, about what, and how it went. Escaped;
/// at most `columns` wide, 0: the whole.
std::string audit_line_text(const nlohmann::json& line, const Style& style, std::size_t columns,
                            ShownTime shown = ShownTime::utc);

/// What `cellblock audit verify` says to a person.
std::string report_text(const audit::LogReport& report, const Style& style);

/// The same as one JSON object.
std::string report_json(const audit::LogReport& report);

/// "SEQ:HASH", as the report prints it; an error says what an anchor is.
Result<audit::ChainPoint> read_anchor(const std::string& text);
std::string anchor_text(const audit::ChainPoint& point);

}  // namespace cellblock::cli
