#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/style.h"

namespace cellblock::cli {

/// The answer to cellblock/status as a table with the last failures and weakenings below it.
/// Everything in it that a server could have written is escaped.
std::string status_text(std::string_view status_json, Style style);

/// The same JSON with only this server in `servers`; empty if it is not there.
std::string only_server(std::string_view status_json, std::string_view server);

/// "12 ms", "3.5 s", "4 min", "2 h", "9 d".
std::string duration_text(std::chrono::milliseconds duration);

/// Unix time as the local "2026-11-22 05:30:00".
std::string moment_text(std::int64_t at_ms);

}  // namespace cellblock::cli
