#include "policy/config_check/cgroup_choice.h"

#include <fmt/format.h>

#include "policy/config/path_rules.h"

namespace cellblock {

Result<CgroupChoice> parse_cgroup_choice(std::string_view text) {
  if (text == "auto") return CgroupChoice{};
  if (text == "none") return CgroupChoice{.way = CgroupChoice::Way::none, .path = {}};
  std::string path(text);
  if (const auto problem = path_problem(path)) {
    return fail(
        fmt::format("{}; allowed: \"auto\", \"none\", or the whole path of a group, with "
                    "the mount it is in, like \"/sys/fs/cgroup/cellblock\"",
                    *problem));
  }
  return CgroupChoice{.way = CgroupChoice::Way::path, .path = std::move(path)};
}

}  // namespace cellblock
