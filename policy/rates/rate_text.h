#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/result.h"
#include "policy/config/call_rules.h"
#include "policy/rates/call_slots.h"

/// Rates as they stand in the TOML. Strict, as units.h is.
namespace cellblock {

inline constexpr std::uint32_t most_calls = 1'000'000;  ///< of a rate, and of a burst

/// "10/s", "600/m", "5000/h"; the burst is as many.
Result<Rate> parse_rate(std::string_view text);

/// "10/s"; with another burst "10/s, 20 at once".
std::string rate_text(const Rate& rate);

/// For a person who is to wait: rounded up, "300ms", "1.2s", "75s".
std::string wait_text(std::chrono::milliseconds time);

/// One sentence: the bound, its value, and when to try again.
std::string busy_text(const Busy& busy, std::string_view server, std::string_view tool);

}  // namespace cellblock
