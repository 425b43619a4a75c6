#pragma once

#include <array>
#include <string_view>

namespace cellblock::cli {

/// What lines of the audit log are about: their `kind` (docs/audit.md).
inline constexpr std::array<std::string_view, 17> audit_kinds{
    "session_opened", "session_closed", "attach",       "label",      "call",      "call_ended",
    "refused",        "denied",         "cell_started", "cell_ended", "egress",    "pin",
    "approval",       "switched",       "finding",      "log_opened", "log_closed"};

}  // namespace cellblock::cli
