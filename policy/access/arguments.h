#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The arguments of a call as values that every parser agrees on, for the conditions of rules.
namespace cellblock {

enum class ValueKind : std::uint8_t {
  text,
  number,
  boolean,
  opaque,  ///< null, an array, an object, or a number that parsers round in different ways
};

struct Value {
  ValueKind kind = ValueKind::opaque;
  std::string text;  ///< unescaped
  double number = 0;
  bool boolean = false;
};

struct Argument {
  std::string name;  ///< unescaped
  Value value;
};

using Arguments = std::vector<Argument>;

/// The value of a JSON number, if it is one that no parser can take for another: an integer of at
/// most 2^53-1 in magnitude, or at most 15 significant digits. `1`, `1.0` and `10e-1` are one.
std::optional<double> exact_number(std::string_view text);

/// The members of `params.arguments`; none where that is absent. `params`: a JSON object that a
/// MessageScanner has passed (no key twice), raw; empty: none. nullopt: `arguments` is no object,
/// or has more than 1024 members: no rule with conditions gives such a call.
std::optional<Arguments> read_arguments(std::string_view params);

}  // namespace cellblock
