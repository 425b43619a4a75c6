#pragma once

#include <string_view>

namespace cellblock::cli {

/// npm_installer.mjs, pip_installer.py, image_installer.py and bundle_installer.py as text: MCP
/// servers that run npm, pip, and skopeo with umoci in a cell, or unpack a bundle there. Those in
/// Python begin with installer_server.py.
extern const std::string_view npm_installer_script;
extern const std::string_view pip_installer_script;
extern const std::string_view image_installer_script;
extern const std::string_view bundle_installer_script;

/// What runs in the cell of a server that is reached by an address, in front of mcp-remote; and the
/// MCP server of the cell in which such a server is authorized.
extern const std::string_view remote_start_script;
extern const std::string_view remote_authorization_script;

}  // namespace cellblock::cli
