#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace cellblock::gateway {

/// Where a cell has been seen to go, so that no flood of connections can keep a new destination out
/// of the audit log. Bounded, since the server chooses the names. Pure.
class SeenTargets {
 public:
  static constexpr std::size_t most = 256;

  /// True once for each target, until there is no room for another.
  bool is_first_sight(const std::string& target) {
    return targets_.size() < most && targets_.insert(target).second;
  }

 private:
  std::set<std::string> targets_;
};

}  // namespace cellblock::gateway
