#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace cellblock::gateway {

using Json = nlohmann::ordered_json;

/// Never throws: bytes that are no UTF-8 are replaced.
std::string text_of(const Json& json);
/// The text as a JSON string, quotes included.
std::string json_string(std::string_view text);
/// A JSON string, unescaped; anything else is the empty text.
std::string string_in(std::string_view raw);
/// Discarded (is_discarded()) where the text is no JSON.
Json parsed(std::string_view raw);

/// Null where there is no such member, or `json` is no object. The pointer is into `json`.
const Json* member(const Json& json, const char* name);
Json* member(Json& json, const char* name);
/// Empty where that is no string.
std::string string_member(const Json& json, const char* name);

}  // namespace cellblock::gateway
