#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

/// The texts in a JSON value as an agent may read or write them. Pure; time and memory in
/// proportion to the value, whatever is in it.
namespace cellblock {

/// Encoded runs are looked for in what was decoded so often, and no deeper.
inline constexpr unsigned deepest_encoding = 2;
/// Of a longer run without a space (an image, an archive) only the two ends are a text.
inline constexpr std::size_t longest_run = 1024;
inline constexpr std::size_t kept_run_end = 256;

using TextVisitor = std::function<void(std::string_view)>;

/// Each string (of names too) without its escapes, each number, and what is percent-, base64- or
/// hex-encoded in them once more as it is decoded. Valid while the visitor runs.
void for_each_text(std::string_view json, const TextVisitor& visit);

}  // namespace cellblock
