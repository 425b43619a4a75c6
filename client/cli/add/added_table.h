#pragma once

#include <string>
#include <vector>

#include "policy/base/result.h"

/// The text of a declaration that `cellblock add` made and its administrator has perhaps changed.
namespace cellblock::cli {

/// The same with another version of its program: every path below `from` leads below `to`, and the
/// program's own script is the new one's. All else stays as it was written. Pure.
struct MovedProgram {
  std::string from;
  std::string to;
  std::string old_script;
  std::string new_script;
};
std::string moved(const std::string& text, const MovedProgram& program);

/// `allow.tools` of that server as it stands there; empty where it says nothing of the sort.
Result<std::vector<std::string>> listed_tools(const std::string& text, const std::string& server);

/// Files of `env_from_file` of that server, in `directory`.
Result<std::vector<std::string>> secret_files_in(const std::string& text, const std::string& server,
                                                 const std::string& directory);

}  // namespace cellblock::cli
