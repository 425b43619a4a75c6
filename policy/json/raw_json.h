#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds its way in JSON text that has been validated, without a tree or a copy, in time in
/// proportion to the text. In text that is not valid it finds less, and nothing outside of it.
namespace cellblock {

struct RawMember {
  std::string name;        ///< unescaped
  std::string_view key;    ///< as it is written, quotes included
  std::string_view value;  ///< as it is written
};

/// What stands in an object, in its order; nullopt: it is none, or not valid.
std::optional<std::vector<RawMember>> raw_members(std::string_view object);

/// Likewise of an array.
std::optional<std::vector<std::string_view>> raw_elements(std::string_view array);

/// Null: there is none with that name.
const RawMember* find_member(const std::vector<RawMember>& members, std::string_view name);

bool is_raw_string(std::string_view value);

/// 0: a scalar; 1: an object or array of scalars.
std::size_t depth_of(std::string_view value);

}  // namespace cellblock
