#pragma once

#include <string>
#include <vector>

#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/package_run.h"
#include "policy/base/result.h"

/// Servers that are reached by an address. The npm package mcp-remote speaks stdio to us and HTTP
/// to them, in a cell of its own. Pure.
namespace cellblock::cli {

/// In the directory of an installed mcp-remote: what starts it.
inline constexpr const char* remote_start_file = "start.mjs";

/// Whether it has an address, is started by one and options of mcp-remote (`https://host/mcp
/// --header 'NAME: VALUE'`), or runs mcp-remote.
bool is_remote(const DeclaredServer& server);

/// Whether that line runs mcp-remote.
bool is_remote(const PackageRun& run);

/// A remote server as one line of mcp-remote, always in the same form: `npx -y mcp-remote URL
/// [OPTION...] --header NAME:${VARIABLE}`. Values of headers are variables, which are secrets. Any
/// other server stays as it is. An error: an address or an option that it cannot have in a cell.
Result<DeclaredServer> as_remote(DeclaredServer server);

/// For a server of a file, which is perhaps a stranger's. An error: as of as_remote(), or an option
/// names another host than its address.
Result<void> check_hosts_of_options(const DeclaredServer& server);

/// The address in such a line.
std::string address_in(const PackageRun& run);

}  // namespace cellblock::cli
