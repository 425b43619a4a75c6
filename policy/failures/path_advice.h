#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/sandbox/source_access.h"

/// What to tell whoever reads that a server could not use a declared path. Pure.
namespace cellblock {

struct PathAdvice {
  std::string target;     ///< inside the cell
  std::string on_eacces;  ///< empty: the path's own owner and mode are not the cause
  std::string on_erofs;   ///< empty: the cell may write there
};

/// Of the declared paths that have any, the innermost first.
std::vector<PathAdvice> path_advice_of(const Server& server, const CellClient& user,
                                       const Identity& identity);

/// For what a server reports: an error that has EACCES or EROFS, by name or in words, and one of
/// the paths in its text. Empty: none.
std::string_view advice_for_report(const std::vector<PathAdvice>& advice, std::string_view report);

}  // namespace cellblock
