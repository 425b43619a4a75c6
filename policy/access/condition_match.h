#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/access_rule.h"

/// A call's arguments, and whether they are within a rule's conditions.
namespace cellblock {

// Arguments as values that every parser agrees on.

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

enum class Match : std::uint8_t {
  no,
  unclear,  ///< of another type than the condition speaks of, or spelled so that it can mean more
            ///< than one thing
  yes,
};

Match match(const Condition& condition, const Value& value);

/// A path by its spelling alone: `.` and repeated slashes fold. What is not absolute, and what has
/// `..` or a NUL in it, is unclear: a symbolic link decides what it means.
Match match_below(std::string_view directory, std::string_view path);

/// What is the matter with a call, by the conditions of one rule.
struct ArgumentFault {
  enum class Kind : std::uint8_t {
    none,
    missing,  ///< a condition speaks of it
    outside,
    unclear,
    unnamed,    ///< no condition speaks of it
    no_object,  ///< `arguments` is something else
  };
  Kind kind = Kind::none;
  std::string_view argument;             ///< its name, as long as the arguments and the rule live
  const Condition* condition = nullptr;  ///< missing, outside, unclear
};

/// For a rule that gives: everything must be within its conditions, and nothing may be there that
/// it does not speak of. null: `arguments` is no object.
ArgumentFault fault_of(const Rule& rule, const Arguments* arguments);

/// For a rule that restricts: true unless one of its conditions plainly does not hold. `defaults`:
/// the schema's defaults of arguments that are left out; null: not known. They count as given,
/// except for a condition that only asks whether its argument is present (`any`).
bool may_be_meant(const Rule& rule, const Arguments* arguments,
                  const Arguments* defaults = nullptr);

/// The defaults that a tool's inputSchema has for its arguments. `definition`: a JSON object; of
/// what cannot be read there are none.
Arguments read_defaults(std::string_view definition);

}  // namespace cellblock
