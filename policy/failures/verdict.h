#pragma once

#include <cstdint>
#include <string_view>

namespace cellblock {

/// Why a cell ended, in one word.
enum class Verdict : std::uint8_t {
  ordinary_exit,  ///< by itself, with code 0, after it had answered
  never_ran,      ///< a set-up step failed
  early_crash,    ///< ended before it answered
  crash,
  killed_by_filter,
  stopped,
  handshake_timeout,
  closed_stdout,
  too_much_noise,
  closed_stdin,
  unread_stdin,
  egress_ended,   ///< what made its connections ended first
  out_of_memory,  ///< the kernel ended all of it for want of memory
  idle,
  unresponsive,
  evicted,
  foreign_framing,
};

inline constexpr std::uint8_t verdict_count =
    static_cast<std::uint8_t>(Verdict::foreign_framing) + 1;

std::string_view name_of(Verdict verdict);  ///< "early_crash", as in status
/// Cellblock ended it, and nothing was wrong with it.
bool is_on_purpose(std::string_view verdict);
/// What an administrator is to see as a failure: neither that, nor an end of its own accord.
bool is_crash(std::string_view verdict);

}  // namespace cellblock
