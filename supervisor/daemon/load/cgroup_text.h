#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/config.h"
#include "policy/config_check/facts_wanted.h"

/// What the kernel's files say about control groups, and what follows from it: cgroups(7). Pure.
namespace cellblock::daemon {

/// One mount of the cgroup2 file system: its directory `root` is seen at `point`.
struct CgroupMount {
  std::string root;
  std::string point;
  bool operator==(const CgroupMount&) const = default;
};

/// From /proc/self/cgroup: the path of the own group in the version 2 hierarchy. None: there is no
/// such hierarchy, or the group was removed.
std::optional<std::string> own_group(std::string_view proc_self_cgroup);

/// From /proc/self/mountinfo, in its order.
std::vector<CgroupMount> cgroup_mounts(std::string_view mountinfo);

/// The directory that shows the group. None: it is in no mount (a cgroup namespace hides it).
std::optional<std::string> directory_of(std::string_view group,
                                        const std::vector<CgroupMount>& mounts);

/// Whether a line of blank-separated words ("cpuset cpu io memory") has that word.
bool has_word(std::string_view words, std::string_view word);

enum class Delegated : std::uint8_t { no, yes };
enum class OtherProcesses : std::uint8_t { none, some };

/// A group as it was found.
struct GroupSight {
  std::string directory;    ///< empty: there is none, see `problem`
  std::string problem;      ///< why it cannot be used, whoever asks
  std::string controllers;  ///< cgroup.controllers
  Delegated delegated = Delegated::no;
  OtherProcesses others = OtherProcesses::none;  ///< besides the supervisor
};

/// At a start a group that is not ours is not taken. A mere check cannot know the group of a later
/// start, so it expects what this host has, in a directory "auto".
enum class LookPurpose : std::uint8_t { start, check };

/// `host_controllers`: of the hierarchy's root.
Cgroup choose_group(const CgroupChoice& choice, const GroupSight& sight, LookPurpose purpose,
                    std::string_view host_controllers);

}  // namespace cellblock::daemon
