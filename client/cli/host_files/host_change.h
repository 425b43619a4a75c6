#pragma once

#include <string>
#include <vector>

#include "client/cli/common/context.h"

/// Hosts' own configurations, changed so that they start cellblock in the place of servers.
namespace cellblock::cli {

/// The file in which an agent host keeps its servers.
struct HostPlace {
  std::string host;  ///< "Claude Code"
  std::string path;
};

/// All that are known, there or not: below `home` those of the user, in `here` those of a project.
std::vector<HostPlace> host_places(const std::string& home, const std::string& here);

struct HostChange {
  std::string file;     ///< empty: those of this machine's hosts that are there
  bool agrees = false;  ///< without being asked
};

/// Each entry whose server cellblock has (added from the same line, or declared by that name with
/// the same command, and given the entry's variables) becomes `cellblock connect NAME`. The old
/// text is kept in the user's state directory.
Exit connect_hosts(const Context& context, const HostChange& change);

/// Gives such entries their old text back, and forgets it.
Exit restore_hosts(const Context& context, const HostChange& change);

}  // namespace cellblock::cli
