#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellblock::cli {

/// How packages of a registry are installed in a cell: an MCP server that runs the registry's own
/// installer, which is this machine's.
struct PackageInstaller {
  std::string reaches;              ///< in words: where its cell gets to
  std::string program;              ///< the interpreter
  std::string script_name;          ///< "npm_installer.mjs"
  std::string_view script;          ///< its text
  std::string profile;              ///< of its cell
  std::string lock;                 ///< the file that says what was installed, with hashes
  std::string lock_text;            ///< of that file, where it is ours to write; else empty
  std::vector<std::string> egress;  ///< entries of egress.allow
  /// Of these, the entries for registry addresses that are not public, where a server's line names
  /// the registry.
  std::vector<std::string> private_addresses;
  /// What a cell does not see of the host by itself, and the installer needs.
  std::vector<std::string> read;
  /// Of these, what the installed server needs as well.
  std::vector<std::string> runtime_paths;
  std::vector<std::pair<std::string, std::string>> variables;
  /// Name and text of files in /run/secrets, which the cell that has a network sees and no other.
  std::vector<std::pair<std::string, std::string>> secrets;
  bool has_scripts = false;  ///< packages can ask that something is run at their installation
};

}  // namespace cellblock::cli
