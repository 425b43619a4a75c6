#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Members of a JSON object that somebody else wrote: of another type they read as absent, and text
/// is escaped for a terminal.
namespace cellblock::cli {

using Json = nlohmann::ordered_json;

/// JSON text; bytes that are no UTF-8 are replaced. `indent`: -1 for one line.
std::string dumped(const Json& json, int indent = -1);

/// As it was sent: not for a terminal.
std::string raw_text(const Json& object, const char* name);
std::string text_of(const Json& object, const char* name);
std::int64_t number_of(const Json& object, const char* name);
Json object_of(const Json& object, const char* name);
std::vector<Json> objects_of(const Json& object, const char* name);
std::vector<std::string> texts_of(const Json& object, const char* name);

}  // namespace cellblock::cli
