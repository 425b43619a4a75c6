#pragma once

#include <string>
#include <vector>

#include "client/cli/scan/scan_finding.h"

namespace cellblock::cli {

/// A process as in proc(5).
struct SeenProcess {
  int pid = 0;
  int parent = 0;
  unsigned uid = 0;
  std::string name;                  ///< comm
  std::vector<std::string> command;  ///< cmdline
};

/// What package of npm or PyPI, or image, a command line runs, as far as it shows: "npx X", "node
/// …/node_modules/X/…", "uvx X", "python -m X", "docker run X". Empty: none. Pure.
std::string package_shown(const std::vector<std::string>& command);

/// The processes that are MCP servers by their package's name and not below a process of cellblock.
/// Of a package runner and its children only the last one counts. `user_of` names a uid. Pure.
std::vector<ScanFinding> running_servers(const std::vector<SeenProcess>& processes,
                                         std::string (*user_of)(unsigned uid));

/// The processes of this machine; at most 32,768.
std::vector<SeenProcess> seen_processes();

}  // namespace cellblock::cli
