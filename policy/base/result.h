#pragma once

#include <expected>
#include <string>
#include <utility>

/// Errors as values. Nothing in cellblock's own code throws across a function boundary: a library
/// that throws (toml++, nlohmann_json, CLI11) is caught where it is called.
namespace cellblock {

/// What went wrong, in words for the person who can mend it.
struct Error {
  std::string text;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string text) {
  return std::unexpected<Error>(Error{std::move(text)});
}

}  // namespace cellblock

// Hands the value on, or returns the error to the caller. A statement expression, because a plain
// function cannot return from its caller.
//
// Use it as a statement's only operand. GCC 12 does not destroy the elements of a braced list, or
// the other arguments of a call, that were built before a later one returns: a descriptor among
// them would leak.
#define CELLBLOCK_TRY(expression)                                      \
  __extension__({                                                      \
    auto&& cellblock_try_result = (expression);                        \
    if (!cellblock_try_result) {                                       \
      return std::unexpected(std::move(cellblock_try_result).error()); \
    }                                                                  \
    *std::move(cellblock_try_result);                                  \
  })

// The same for a result that carries no value.
#define CELLBLOCK_CHECK(expression)                                      \
  do {                                                                   \
    auto&& cellblock_check_result = (expression);                        \
    if (!cellblock_check_result) {                                       \
      return std::unexpected(std::move(cellblock_check_result).error()); \
    }                                                                    \
  } while (false)
