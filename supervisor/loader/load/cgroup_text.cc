#include "supervisor/loader/load/cgroup_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cellblock::daemon {
namespace {

constexpr std::string_view delegate_it =
    "let systemd delegate a group (Delegate=yes in the unit), or name one with daemon.cgroup";

// Cuts the first field off; fields are separated by `separator`.
std::string_view take_field(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view field = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return field;
}

bool is_octal(std::string_view digits) {
  return digits.size() == 3 && digits.find_first_not_of("01234567") == std::string_view::npos;
}

// The kernel writes blanks, tabs, newlines and backslashes as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (text.front() == '\\' && is_octal(text.substr(1, 3))) {
      const int value = (text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0');
      plain += static_cast<char>(value);
      text.remove_prefix(4);
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

// "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw": any number of optional
// fields before the lone dash.
std::optional<CgroupMount> cgroup_mount(std::string_view line) {
  const std::size_t dash = line.find(" - ");
  if (dash == std::string_view::npos || !line.substr(dash + 3).starts_with("cgroup2 ")) return {};
  for (int field = 0; field < 3; ++field) take_field(line, ' ');
  std::string root = unescape(take_field(line, ' '));
  std::string point = unescape(take_field(line, ' '));
  return CgroupMount{std::move(root), std::move(point)};
}

// The part of `group` below `root`: "" or "/x". nullopt: not below it.
std::optional<std::string_view> below(std::string_view group, std::string_view root) {
  if (root == "/") return group == "/" ? std::string_view{} : group;
  if (!group.starts_with(root)) return {};
  group.remove_prefix(root.size());
  if (!group.empty() && group.front() != '/') return {};
  return group;
}

std::string missing_controllers(const Cgroup& cgroup) {
  const std::array<std::pair<bool, std::string_view>, 4> wanted = {
      {{cgroup.memory, "memory"}, {cgroup.pids, "pids"}, {cgroup.cpu, "cpu"}, {cgroup.io, "io"}}};
  std::string names;
  for (const auto& [is_there, name] : wanted) {
    if (!is_there) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

Cgroup with_controllers(std::string_view controllers) {
  Cgroup cgroup;
  cgroup.memory = has_word(controllers, "memory");
  cgroup.pids = has_word(controllers, "pids");
  cgroup.cpu = has_word(controllers, "cpu");
  cgroup.io = has_word(controllers, "io");
  return cgroup;
}

Cgroup without(std::string because) {
  Cgroup cgroup;
  cgroup.missing_because = std::move(because);
  return cgroup;
}

Cgroup group_in(const GroupSight& sight) {
  Cgroup cgroup = with_controllers(sight.controllers);
  cgroup.directory = sight.directory;
  const std::string missing = missing_controllers(cgroup);
  if (!missing.empty()) {
    cgroup.missing_because = fmt::format(
        "{} has no controller for {} (is it in use by cgroup v1, or not in the "
        "parent's cgroup.subtree_control?)",
        sight.directory, missing);
  }
  return cgroup;
}

bool has_any(const Cgroup& cgroup) {
  return cgroup.memory || cgroup.pids || cgroup.cpu || cgroup.io;
}

Cgroup expected_at_start(std::string_view host_controllers) {
  Cgroup cgroup = with_controllers(host_controllers);
  cgroup.directory = "auto";
  const std::string missing = missing_controllers(cgroup);
  if (!missing.empty()) {
    cgroup.missing_because =
        fmt::format("cgroup v2 has no controller for {} on this host", missing);
  }
  return cgroup;
}

// A delegated group has at most the host's controllers, so the advice speaks of delegation only
// where that helps; the same in the check and at the start.
Cgroup group_of_others(const GroupSight& sight, LookPurpose purpose,
                       std::string_view host_controllers) {
  if (!has_any(with_controllers(host_controllers))) {
    return without(sight.problem.empty()
                       ? "cgroup v2 has no controller for memory, pids, cpu, io on this host (are "
                         "they in use by cgroup v1?)"
                       : sight.problem);
  }
  if (purpose == LookPurpose::check) return expected_at_start(host_controllers);
  if (!sight.problem.empty()) return without(fmt::format("{}; {}", sight.problem, delegate_it));
  return without(
      fmt::format("the group {} is not delegated to cellblockd; {}", sight.directory, delegate_it));
}

}  // namespace

std::optional<std::string> own_group(std::string_view text) {
  constexpr std::string_view unified = "0::";
  constexpr std::string_view removed = " (deleted)";
  while (!text.empty()) {
    std::string_view line = take_field(text, '\n');
    if (!line.starts_with(unified)) continue;
    line.remove_prefix(unified.size());
    if (!line.starts_with('/') || line.ends_with(removed)) return {};
    return std::string(line);
  }
  return {};
}

std::vector<CgroupMount> cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  while (!mountinfo.empty()) {
    if (auto mount = cgroup_mount(take_field(mountinfo, '\n'))) mounts.push_back(std::move(*mount));
  }
  return mounts;
}

std::optional<std::string> directory_of(std::string_view group,
                                        const std::vector<CgroupMount>& mounts) {
  // Above the root of our cgroup namespace: nothing shows it.
  if (group == "/.." || group.starts_with("/../")) return {};
  for (const CgroupMount& mount : mounts) {
    if (const auto rest = below(group, mount.root)) return mount.point + std::string(*rest);
  }
  return {};
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    std::string_view found = take_field(words, ' ');
    if (found.ends_with('\n')) found.remove_suffix(1);
    if (found == word) return true;
  }
  return false;
}

Cgroup choose_group(const CgroupChoice& choice, const GroupSight& sight, LookPurpose purpose,
                    std::string_view host_controllers) {
  using Way = CgroupChoice::Way;
  if (choice.way == Way::none) return without("daemon.cgroup = \"none\"");
  const bool found = sight.problem.empty() && !sight.directory.empty();
  const bool own = found && sight.delegated == Delegated::yes;
  if (choice.way == Way::automatic && !own) {
    return group_of_others(sight, purpose, host_controllers);
  }
  if (!found) return without(sight.problem);
  if (sight.others == OtherProcesses::some) {
    return without(
        fmt::format("there are other processes in the group {}: it has to be cellblockd's alone",
                    sight.directory));
  }
  return group_in(sight);
}

}  // namespace cellblock::daemon
