#include "policy/config/command_text.h"

#include <algorithm>

namespace cellblock {

std::string command_text(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  const auto script = std::find_if(command.begin() + 1, command.end(),
                                   [](const std::string& word) { return !word.starts_with('-'); });
  if (script == command.end() || !script->starts_with('/')) return command.front();
  return command.front() + " " + *script;
}

}  // namespace cellblock
