#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

/// Questions about JSON that a server wrote.
namespace cellblock::gateway {

/// More than `levels` arrays and objects inside one another.
bool is_deeper_than(const nlohmann::ordered_json& value, unsigned levels);

// The following go down as deep as the value does.

/// About: as JSON it may have a few bytes more or less for each of its values.
bool is_larger_than(const nlohmann::ordered_json& value, std::size_t bytes);

/// A `$ref` (`$dynamicRef`, `$recursiveRef`) that does not begin with `#`: whoever resolves it
/// would have to fetch it, or to look for an `$id` that the server chose.
bool has_external_ref(const nlohmann::ordered_json& schema);

bool has_hidden_key(const nlohmann::ordered_json& value);

}  // namespace cellblock::gateway
