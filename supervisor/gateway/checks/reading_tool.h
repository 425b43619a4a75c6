#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The tool of cellblock's own with which a model reads on in a result that was cut.
namespace cellblock::gateway {

/// No server's tool can be called so: such a one is left out of its list.
inline constexpr const char* reading_tool_name = "cellblock_read_result";

/// Whether a list of tools that passes here is the host's own, and so ends with it. Lists of all
/// servers as one are made elsewhere.
enum class ReadingTool : std::uint8_t { not_listed, listed };

/// As it stands in tools/list: a JSON object.
std::string_view reading_tool();

/// `result` is the raw result of a tools/list, narrowed as it may be; with the tool at the end of
/// its list, and without one of the server's that has its name. Unchanged where there is no list.
std::string with_reading_tool(std::string_view result);

}  // namespace cellblock::gateway
