#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/cli/style.h"

namespace cellblock::cli {

enum class StatusView : std::uint8_t { summary, one_server };

/// The answer to cellblock/status as a table with the last failures and weakenings below it.
/// Everything in it that a server could have written is escaped. `whose`: the user whose it is;
/// empty: of whoever asks.
std::string status_text(std::string_view status_json, Style style, StatusView view,
                        const std::string& whose = {});

/// The same JSON with only this server in `servers`; empty if it is not there.
std::string only_server(std::string_view status_json, std::string_view server);

}  // namespace cellblock::cli
