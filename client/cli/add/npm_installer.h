#pragma once

#include <string_view>

namespace cellblock::cli {

/// npm_installer.mjs as text: an MCP server that runs npm in a cell.
extern const std::string_view npm_installer;

}  // namespace cellblock::cli
