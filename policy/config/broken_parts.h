#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"

/// The parts of a configuration that are left out, in words. Pure.
namespace cellblock {

/// A part of a configuration that is left out.
struct PartLeftOut {
  std::string name;   ///< "server git", "role dev", "token ci"
  std::string cause;  ///< with file and line
};

/// Servers, then roles and tokens. Includes servers whose command or paths are missing, although
/// these are tried again at each use.
std::vector<PartLeftOut> broken_parts(const Config& config);

/// A line for each part, for the journal: `[MCP:stdio:git] is broken: ...`.
std::vector<std::string> journal_lines(const Config& config);

}  // namespace cellblock
