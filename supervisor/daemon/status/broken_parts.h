#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"

/// What of a configuration is left out, in words. Pure.
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

}  // namespace cellblock
