#include "policy/base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <utility>

namespace cellblock {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Largest first, and binary before decimal: the order in which *_text tries them.
constexpr std::array size_units = {
    Unit{"TiB", 1ULL << 40},
    Unit{"GiB", 1ULL << 30},
    Unit{"MiB", 1ULL << 20},
    Unit{"KiB", 1ULL << 10},
    Unit{"TB", 1'000'000'000'000},
    Unit{"GB", 1'000'000'000},
    Unit{"MB", 1'000'000},
    Unit{"KB", 1'000},
    Unit{"B", 1},
};

constexpr std::array time_units = {
    Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000}, Unit{"s", 1'000}, Unit{"ms", 1},
};

constexpr std::uint64_t longest_duration = 31ULL * 86'400'000;  // ms

constexpr std::string_view size_help =
    "allowed: a whole number and one of B, KiB, MiB, GiB, TiB, KB, MB, GB, TB, like \"512MiB\"";
constexpr std::string_view time_help =
    "allowed: a whole number and one of ms, s, m, h, d, like \"30s\", at most 31d";

const Unit* find_unit(std::span<const Unit> units, std::string_view name) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// No value: not a number and a unit, or more than 64 bits.
std::optional<std::uint64_t> parse(std::string_view text, std::span<const Unit> units) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  const Unit* unit = find_unit(units, text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit == nullptr) return std::nullopt;
  if (number > std::numeric_limits<std::uint64_t>::max() / unit->factor) return std::nullopt;
  return number * unit->factor;
}

std::string text_of(std::uint64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (value > 0 && value % unit.factor == 0) {
      return fmt::format("{}{}", value / unit.factor, unit.name);
    }
  }
  return fmt::format("0{}", units.back().name);
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto bytes = parse(text, size_units);
  if (!bytes && text.ends_with("/s")) {
    return fail(fmt::format("\"{}\": a size per second is written as a size, without \"/s\"; {}",
                            text, size_help));
  }
  if (!bytes) return fail(fmt::format("\"{}\" is not a size; {}", text, size_help));
  return *bytes;
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto count = parse(text, time_units);
  if (!count || *count > longest_duration) {
    return fail(fmt::format("\"{}\" is not a time; {}", text, time_help));
  }
  return std::chrono::milliseconds(static_cast<std::int64_t>(*count));
}

Result<std::uint32_t> parse_mode(std::string_view text) {
  std::uint32_t mode = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc{} || end != last || text.size() != 4 || text.front() != '0') {
    return fail(
        fmt::format("\"{}\" is not a mode; allowed: four octal digits, like \"0660\"", text));
  }
  return mode;
}

std::string size_text(std::uint64_t bytes) { return text_of(bytes, size_units); }

std::string duration_text(std::chrono::milliseconds time) {
  return text_of(static_cast<std::uint64_t>(time.count()), time_units);
}

std::string mode_text(std::uint32_t mode) { return fmt::format("{:04o}", mode); }

}  // namespace cellblock
