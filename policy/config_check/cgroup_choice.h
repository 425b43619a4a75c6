#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/base/result.h"

namespace cellblock {

/// [daemon] cgroup: below which cgroup v2 group the cells get theirs.
struct CgroupChoice {
  enum class Way : std::uint8_t {
    automatic,  ///< the supervisor's own group, if it is delegated to it
    none,       ///< no groups: limits that need one cannot be enforced
    path,       ///< this directory
  };
  Way way = Way::automatic;
  std::string path;
  bool operator==(const CgroupChoice&) const = default;
};

/// "auto", "none", or an absolute path.
Result<CgroupChoice> parse_cgroup_choice(std::string_view text);

}  // namespace cellblock
