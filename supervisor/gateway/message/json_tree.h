#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// Messages as trees, for the bridges: members keep their order, and what no bridge knows stays as
/// it came.
namespace cellblock::gateway {

using Json = nlohmann::ordered_json;

/// Null where it is none.
/// Replaces what is no UTF-8 instead of throwing.
std::string dump_json(const Json& json);
Json parse_json(std::string_view raw);
/// One line; bytes that are no UTF-8 are replaced.
std::string text_of(const Json& json);

/// The member, if `json` is an object that has it; else null.
const Json* member(const Json& json, std::string_view key);
Json* member(Json& json, std::string_view key);
/// The same, if it is an object.
const Json* object_in(const Json& json, std::string_view key);
/// "" where it is no string.
std::string string_in(const Json& json, std::string_view key);
/// Whether the member is `true`.
bool says(const Json& json, std::string_view key);

/// The member as an object: made, or put in place of what is none.
Json& object_at(Json& json, std::string_view key);
void leave_out(Json& json, std::initializer_list<std::string_view> keys);

/// Without "params" where they are null.
std::string request_text(const Json& id, std::string_view method, const Json& params);
std::string notification_text(std::string_view method, const Json& params);
/// `id` is raw JSON.
std::string result_text(std::string_view id, const Json& result);
std::string error_text(std::string_view id, const Json& error);
Json error_of(int code, std::string_view message);

}  // namespace cellblock::gateway
