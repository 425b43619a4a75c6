#pragma once

#include <string>
#include <vector>

/// Where agent hosts keep what servers they start.
namespace cellblock::cli {

struct HostPlace {
  std::string host;  ///< "Claude Code"
  std::string path;
};

/// All that are known, there or not: below `home` those of the user, in `here` those of a project.
std::vector<HostPlace> host_places(const std::string& home, const std::string& here);

}  // namespace cellblock::cli
