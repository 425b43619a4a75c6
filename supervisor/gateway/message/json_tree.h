#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// Messages as trees, for the bridges: members keep their order, and what no bridge knows stays as
/// it came.
namespace cellblock::gateway {

// read_tree() is the only way from a peer's text to a tree. nlohmann's own parser looks through all
// members of an ordered object for each that it adds: a line with 80,000 of them takes it 20 s.

/// More than any message has (max_message_depth), and what is kept of one.
inline constexpr unsigned max_tree_depth = 128;

/// Discarded (`is_discarded()`) where it is no JSON or too deep. Duplicate keys stay: a message
/// with such is refused when it is scanned. Time in proportion to the text. A number that a double
/// is not, or is not written as, is there as it was written: of type binary, for write_tree().
nlohmann::ordered_json read_tree(std::string_view text);

/// What a raw JSON string says, unescaped; empty for anything else.
std::string read_string(std::string_view raw);

/// A tree of read_tree() as one line of text: its numbers as they were written there, bytes that
/// are no UTF-8 replaced.
std::string write_tree(const nlohmann::ordered_json& tree);

using Json = nlohmann::ordered_json;

/// Null where it is none.
/// Replaces what is no UTF-8 instead of throwing.
std::string dump_json(const Json& json);
Json parse_json(std::string_view raw);
/// The JSON on one line; bytes that are not UTF-8 are replaced.
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
