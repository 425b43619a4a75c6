#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cellblock/error.h"
#include "policy/json/json_text.h"

/// Composes JSON-RPC lines and reads the parts of answers. Nothing else includes nlohmann_json.
namespace cellblock::client {

// Members of a JSON object, found in its text without a tree. Keys are compared after unescaping.
// Linear time.

/// The value of a member, inside `object`, which is JSON; empty: there is none.
std::string_view raw_member(std::string_view object, std::string_view key);

/// The text of a member; empty: there is none, or it is no string.
std::string member_text(const std::vector<RawMember>& members, std::string_view key);

/// The object with `_meta.progressToken`; the rest as it was. invalid_argument: it has one, or
/// `_meta` is no object, or it is no object itself.
Result<std::string> with_progress_token(std::string_view object, std::uint64_t token);

/// `member` ("key":value) as the first one of the object whose brace is there.
std::string with_first_member(std::string_view text, std::size_t brace, std::string_view member);

bool is_json_object(std::string_view json);
/// The same object on one line; invalid_argument if it is not one JSON object.
Result<std::string> one_line_object(std::string_view json);

/// `"…"` with everything escaped. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// `{"jsonrpc":"2.0",…}` and a newline. `id` and `params` are raw JSON; empty: left out.
std::string request_line(std::string_view id, std::string_view method, std::string_view params);
std::string result_line(std::string_view id, std::string_view result);
std::string error_line(std::string_view id, int code, std::string_view message,
                       std::string_view data = {});

/// What the `code` of error data ("too_many") is here; server_failed where it is none that is
/// known.
ErrorCode code_of_failure(std::string_view name);

/// The member `error` of an answer.
Error read_error(std::string_view error_object);

/// A text of cellblock's own on one line, as logs want it.
std::string on_one_line(std::string text);

}  // namespace cellblock::client
