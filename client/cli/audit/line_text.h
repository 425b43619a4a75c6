#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "client/cli/terminal/style.h"
#include "policy/audit/log_verifier.h"

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

/// What `cellblock audit verify` found about signed anchors.
struct AnchorReport {
  std::string key;         ///< its id; empty: no key was named
  std::uint64_t good = 0;  ///< anchors that it has signed
  std::string last_time;   ///< of the last of these
  std::string fresh;       ///< the line that was signed now; empty: none
  bool has_log = true;     ///< false: the anchors were looked at alone
};

/// What `cellblock audit verify` says to a person.
std::string report_text(const audit::LogReport& report, const AnchorReport& anchors,
                        const Style& style);

/// The same as one JSON object.
std::string report_json(const audit::LogReport& report, const AnchorReport& anchors);

}  // namespace cellblock::cli
