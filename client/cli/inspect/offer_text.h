#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/cli/tool_rows/list_kind.h"

/// What a server offers, for reading: its lists, and JSON Schemas. All escaped.
namespace cellblock::cli {

/// A JSON Schema for reading: a line a property with its type, whether it is required, its default
/// and what it is for; what is inside of it below. Escaped; at most eight levels.
std::string schema_text(const nlohmann::ordered_json& schema, std::size_t indent);

/// The type in a few words: "string", "list of integer", "one of \"a\", \"b\"".
std::string type_text(const nlohmann::ordered_json& schema);

/// A line an element: what it is called by, and the first line about it. `room`: columns, or 0.
std::string list_text(ListKind kind, const std::vector<nlohmann::ordered_json>& items,
                      std::size_t room);

/// All about one.
std::string describe_text(ListKind kind, const nlohmann::ordered_json& item);

/// The answer to `initialize` or `server/discover`.
std::string introduction_text(const nlohmann::ordered_json& introduction);

}  // namespace cellblock::cli
