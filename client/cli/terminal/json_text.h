#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

/// JSON that others wrote, for a terminal: as text, or its members by name. A member of another
/// type reads as absent; all text is escaped.
namespace cellblock::cli {

/// JSON over several lines, for a reader who decides by it: as it is written, with duplicate names
/// and the spelling of numbers, and with all that is not printable ASCII as escapes, so that
/// nothing can look like something else. What is no JSON is one line.
std::string escaped_json(std::string_view text);

/// JSON for a terminal, and still the same JSON: characters that are not seen, or that move, hide
/// or reorder what is, are written as \u escapes. `json` is JSON text as a parser took it.
std::string terminal_json(std::string_view json);

using Json = nlohmann::ordered_json;

/// JSON text; bytes that are no UTF-8 are replaced. `indent`: -1 for one line.
std::string dumped(const Json& json, int indent = -1);

/// The text as it was sent: not for a terminal.
std::string raw_text(const Json& object, const char* name);
std::string text_of(const Json& object, const char* name);
std::int64_t number_of(const Json& object, const char* name);
Json object_of(const Json& object, const char* name);
std::vector<Json> objects_of(const Json& object, const char* name);
std::vector<std::string> texts_of(const Json& object, const char* name);

}  // namespace cellblock::cli
