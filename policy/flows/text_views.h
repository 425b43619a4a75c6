#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// The texts in a JSON value as an agent may read or write them. Pure; time and memory are
/// proportional to the value.
namespace cellblock {

/// The depth to which encodings are undone.
inline constexpr unsigned deepest_encoding = 2;
/// A longer run without a space (an image, an archive) counts only with its two ends.
inline constexpr std::size_t longest_run = 1024;
inline constexpr std::size_t kept_run_end = 256;

using TextVisitor = std::function<void(std::string_view)>;

/// The treatment of runs that are longer than `longest_run`.
enum class LongRuns : std::uint8_t {
  ends,   ///< what was read: an image must not fill what is remembered
  whole,  ///< what is sent: filling around a text must not hide it
};

/// Visits each string and member name without its escapes, each number, and every percent-, base64-
/// or hex-encoded part again in its decoded form. A text is valid while the visitor runs.
void for_each_text(std::string_view json, LongRuns runs, const TextVisitor& visit);

/// All string values joined: a text may be sent in pieces.
std::string joined_strings(std::string_view json);

}  // namespace cellblock
