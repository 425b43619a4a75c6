#pragma once

#include <cstdint>
#include <string_view>

#include "policy/access/arguments.h"
#include "policy/config/access_rule.h"

/// Whether a call's arguments are within a rule's conditions.
namespace cellblock {

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

/// For a rule that takes: it binds whatever is not plainly outside one of its conditions.
bool may_be_meant(const Rule& rule, const Arguments* arguments);

}  // namespace cellblock
