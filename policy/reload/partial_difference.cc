#include "policy/reload/partial_difference.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "policy/reload/merge.h"

namespace cellblock {

Difference partial_difference(const Config& used, Config& next) {
  std::vector<std::string> wanted = difference(used, next).at_start;
  keep_for_restart(used, next);
  Difference found = difference(used, next);
  std::erase_if(wanted, [&](const std::string& key) {
    return std::ranges::find(found.at_start, key) != found.at_start.end();
  });
  found.left = std::move(wanted);
  return found;
}

}  // namespace cellblock
