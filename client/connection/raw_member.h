#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cellblock/error.h"

/// Parts of JSON objects as they stand there, found without a tree. Keys are compared after
/// unescaping. Linear time.
namespace cellblock::client {

/// The value of a member, inside `object`, which is JSON; empty: there is none.
std::string_view raw_member(std::string_view object, std::string_view key);

/// The object with `_meta.progressToken`; the rest as it was. invalid_argument: it has one, or
/// `_meta` is no object, or it is no object itself.
Result<std::string> with_progress_token(std::string_view object, std::uint64_t token);

/// `member` ("key":value) as the first one of the object whose brace is there.
std::string with_first_member(std::string_view text, std::size_t brace, std::string_view member);

}  // namespace cellblock::client
