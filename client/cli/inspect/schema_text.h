#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cellblock::cli {

/// A JSON Schema for reading: a line a property with its type, whether it is required, its default
/// and what it is for; what is inside of it below. Escaped; at most eight levels.
std::string schema_text(const nlohmann::ordered_json& schema, std::size_t indent);

/// Its type in a few words: "string", "list of integer", "one of \"a\", \"b\"".
std::string type_text(const nlohmann::ordered_json& schema);

}  // namespace cellblock::cli
