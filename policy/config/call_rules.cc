#include "policy/config/call_rules.h"

#include <algorithm>

namespace cellblock {

const ToolCalls* find_tool(const ServerCalls& rules, std::string_view name) {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::lower_bound(
      rules.tools, name, {}, [](const ToolCalls& tool) { return std::string_view(tool.name); });
  return found == rules.tools.end() || found->name != name ? nullptr : &*found;
}

}  // namespace cellblock
