#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/encoding/sha256.h"

/// A line of the audit log, read by its shape alone: no digest is computed.
namespace cellblock::audit {

/// What the shape of a line is made of.
inline constexpr std::string_view line_head = R"({"seq":)";
inline constexpr std::string_view before_hash = R"(,"hash":")";
inline constexpr std::string_view after_hash = R"("})";
inline constexpr std::size_t hex_digits = 64;
inline constexpr std::size_t seal_size = before_hash.size() + hex_digits + after_hash.size();

/// 64 digits, lower case.
std::string hex_of(const Sha256& digest);
std::optional<Sha256> digest_of_hex(std::string_view hex);

struct SealedLine {
  std::uint64_t sequence = 0;
  std::string_view body;
  Sha256 hash{};  ///< as it says
};

/// Parses by the shape alone; `line` is without its newline. No value: not a whole sealed line.
std::optional<SealedLine> sealed_line(std::string_view line);

/// When the line was written, in seconds of Unix time: of its body's `"time":"…Z"`, as the writer
/// writes it. Nothing: it says none.
std::optional<std::int64_t> time_of(std::string_view body);

}  // namespace cellblock::audit
