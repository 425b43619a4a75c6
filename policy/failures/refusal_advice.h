#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/sandbox/source_access.h"

/// What to tell an administrator when a server was refused the network or a path. Pure.
namespace cellblock {

/// For what a server reports: an error in whose text the network failed, as runtimes and C
/// libraries say it, of a cell that has none, or one that egress.allow bounds. Empty: it says
/// nothing of the kind, or the cell has the host's network. Only words of the configuration are in
/// it, none of the report. `allow`: the TOML that would allow the name which the server's cells
/// were refused last; empty: none. Pure.
std::string network_advice_for_report(const Server& server, std::string_view report,
                                      std::string_view allow);

// A declared path that the server could not use.

struct PathAdvice {
  std::string target;     ///< inside the cell
  std::string on_eacces;  ///< empty: the path's own owner and mode are not the cause
  std::string on_erofs;   ///< empty: the cell may write there
};

/// The advice about the declared paths, the innermost first.
std::vector<PathAdvice> path_advice_of(const Server& server, const CellClient& user,
                                       const Identity& identity);

/// For what a server reports: an error that has EACCES or EROFS, by name or in words, and one of
/// the paths in its text. Empty: none.
std::string_view advice_for_report(const std::vector<PathAdvice>& advice, std::string_view report);

}  // namespace cellblock
