#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policy/config_reader/complaint.h"

/// Values of a TOML file, each with its place.
namespace cellblock {

template <class T>
struct Located {
  T value{};
  Place at;
};

template <class T>
using Maybe = std::optional<Located<T>>;

using TextAt = Located<std::string>;
using TextList = std::vector<TextAt>;

/// A user or group: a name, or a number.
using IdText = std::variant<std::string, std::int64_t>;
using IdList = std::vector<Located<IdText>>;

/// A string, an integer, a fraction, or a boolean.
using ScalarText = std::variant<std::string, std::int64_t, double, bool>;
using ScalarList = std::vector<Located<ScalarText>>;

struct VariableText {
  TextAt name;
  TextAt value;
};

}  // namespace cellblock
