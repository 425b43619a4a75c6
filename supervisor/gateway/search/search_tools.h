#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/failure.h"
#include "policy/jsonrpc/jsonrpc.h"

/// The tools of cellblock's own by which a model finds a server's tools and calls them.
namespace cellblock::gateway {

/// Where a host finds tools by search, no server's tool is reached under these names.
inline constexpr std::string_view finding_tool_name = "cellblock_find_tools";
inline constexpr std::string_view calling_tool_name = "cellblock_call_tool";

inline constexpr std::size_t max_find_words = 1000;  ///< bytes
inline constexpr std::size_t max_find_limit = 20;
inline constexpr std::size_t default_find_limit = 5;

/// Whether this is a tool of cellblock's own, the one for reading kept results included.
bool is_own_tool(std::string_view name);

/// The tool's definition in tools/list: a JSON object. `servers`: the servers it searches; as many
/// are named as fit.
std::string finding_tool(const std::vector<std::string>& servers);
std::string_view calling_tool();

// cellblock_call_tool as the call that it stands for.

/// The host's line as it would have called the tool itself: what `name` and `arguments` say takes
/// the places of the tool's name and arguments, and all else (id, `_meta`, answers to questions)
/// stays. Whether the tool is there, and may be called, is decided below. An error:
/// invalid_arguments.
std::expected<std::string, Failure> as_called_tool(std::string_view line, const Message& message);

}  // namespace cellblock::gateway
