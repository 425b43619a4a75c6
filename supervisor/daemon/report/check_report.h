#pragma once

#include <expected>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "supervisor/daemon/load/config_files.h"

/// The texts of `cellblockd --check` and of the journal about a configuration. Pure.
namespace cellblock {

/// A part of a configuration that is left out.
struct PartLeftOut {
  std::string name;   ///< "server git", "role dev", "token ci"
  std::string cause;  ///< with file and line
};

/// Servers, then roles and tokens. A server whose command or paths are missing is among them,
/// although it is tried again when it is used.
std::vector<PartLeftOut> broken_parts(const Config& config);

/// One for each, for the journal: `[MCP:stdio:git] is broken: ...`.
std::vector<std::string> journal_lines(const Config& config);

/// The verdict, each complaint on a line of its own, then each server with its weakenings.
std::string check_report(const std::string& path,
                         const std::expected<LoadedConfig, std::vector<Complaint>>& loaded);

/// Its verdict and what is wrong or left out; empty if nothing is. Warnings are passed over.
std::string brief_report(const std::string& path,
                         const std::expected<LoadedConfig, std::vector<Complaint>>& loaded);

}  // namespace cellblock
