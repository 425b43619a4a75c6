#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"

/// cellblock_call_tool, as the call that it stands for.
namespace cellblock::gateway {

/// The host's line as it would have called the tool itself: what `name` and `arguments` say takes
/// the places of the tool's name and arguments, and all else (id, `_meta`, answers to questions)
/// stays. Whether the tool is there, and may be called, is decided below. An error:
/// invalid_arguments.
std::expected<std::string, Failure> as_called_tool(std::string_view line, const Message& message);

}  // namespace cellblock::gateway
