#include "policy/config/result_rules.h"

namespace cellblock {

const ResultBounds& bounds_of(const ServerResults& results, std::string_view tool) {
  if (tool.empty()) return results.bounds;
  const auto found = std::ranges::lower_bound(results.tools, tool, {}, &ToolResults::name);
  const bool is_there = found != results.tools.end() && found->name == tool;
  return is_there ? found->bounds : results.bounds;
}

bool bounds_any(const ServerResults& results) {
  return results.bounds.bounding == Bounding::on ||
         std::ranges::any_of(results.tools, [](const ToolResults& tool) {
           return tool.bounds.bounding == Bounding::on;
         });
}

}  // namespace cellblock
