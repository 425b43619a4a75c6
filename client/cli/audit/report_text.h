#pragma once

#include <string>

#include "client/cli/terminal/style.h"
#include "policy/audit/log_verifier.h"

namespace cellblock::cli {

/// What `cellblock audit verify` says to a person.
std::string report_text(const audit::LogReport& report, const Style& style);

/// The same as one JSON object.
std::string report_json(const audit::LogReport& report);

/// "SEQ:HASH", as the report prints it; an error says what an anchor is.
Result<audit::ChainPoint> read_anchor(const std::string& text);
std::string anchor_text(const audit::ChainPoint& point);

}  // namespace cellblock::cli
