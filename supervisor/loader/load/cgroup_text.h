#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/config_check/facts_wanted.h"

/// Parses the kernel's files about control groups, and chooses a group by them: cgroups(7). Pure.
namespace cellblock::daemon {

/// One mount of the cgroup2 file system: the directory `root` is mounted at `point`.
struct CgroupMount {
  std::string root;
  std::string point;
  bool operator==(const CgroupMount&) const = default;
};

/// The path of this process's group in the version 2 hierarchy, from /proc/self/cgroup. nullopt:
/// there is no such hierarchy, or the group was removed.
std::optional<std::string> own_group(std::string_view proc_self_cgroup);

/// The cgroup2 mounts in /proc/self/mountinfo, in its order.
std::vector<CgroupMount> cgroup_mounts(std::string_view mountinfo);

/// The directory that shows the group. nullopt: no mount has it (a cgroup namespace hides it).
std::optional<std::string> directory_of(std::string_view group,
                                        const std::vector<CgroupMount>& mounts);

/// Whether a line of blank-separated words ("cpuset cpu io memory") contains that word.
bool has_word(std::string_view words, std::string_view word);

enum class Delegated : std::uint8_t { no, yes };
enum class OtherProcesses : std::uint8_t { none, some };

/// A group as the search found it.
struct GroupSight {
  std::string directory;    ///< empty: no group, see `problem`
  std::string problem;      ///< why the group cannot be used at all
  std::string controllers;  ///< cgroup.controllers
  Delegated delegated = Delegated::no;
  OtherProcesses others = OtherProcesses::none;  ///< besides the supervisor
};

/// A start takes no group that is not delegated to it. A check cannot know the group of a later
/// start, so it expects the host's controllers, in a directory "auto".
enum class LookPurpose : std::uint8_t { start, check };

/// `host_controllers`: cgroup.controllers of the hierarchy's root.
Cgroup choose_group(const CgroupChoice& choice, const GroupSight& sight, LookPurpose purpose,
                    std::string_view host_controllers);

}  // namespace cellblock::daemon
