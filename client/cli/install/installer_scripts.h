#pragma once

#include <string_view>

namespace cellblock::cli {

/// npm_installer.mjs and pip_installer.py as text: MCP servers that run npm and pip in a cell.
extern const std::string_view npm_installer_script;
extern const std::string_view pip_installer_script;

}  // namespace cellblock::cli
