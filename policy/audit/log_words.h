#pragma once

#include <cstdint>
#include <string_view>

/// What the writer of the audit log, the supervisor and a reader of it agree on.
namespace cellblock::audit {

/// More files than any log has: `audit.keep` and the one that is written.
inline constexpr std::uint32_t most_files = 65;

/// What a log's opening lines say of those behind them. From 2 on, each connection of an
/// administrator to a gateway has a line of the supervisor's.
inline constexpr std::uint32_t log_format = 2;

/// `tool` of that line; its `text` begins with this and the gateway's name.
inline constexpr std::string_view admin_connected = "connect";
inline constexpr std::string_view gateway_beginning = "gateway ";

}  // namespace cellblock::audit
