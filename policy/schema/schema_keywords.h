#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "policy/schema/json_schema.h"

/// What is said of values and schemas to whoever has to mend the one. Everything is printable.
namespace cellblock {

inline constexpr std::size_t longest_schema_word = 80;

TypeMask type_of(const nlohmann::ordered_json& value);
std::string_view name_of_type(TypeMask type);  ///< "an integer"
std::string names_of_types(TypeMask types);    ///< "a string or null"
std::string shown(const nlohmann::ordered_json& value);
/// One step of a JSON pointer.
std::string escaped(std::string_view token);
std::size_t characters_in(std::string_view text);

}  // namespace cellblock
