#include "policy/doctor/namespace_checks.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "policy/failures/errno_and_signal_names.h"
#include "policy/failures/setup_step.h"

namespace cellblock {
namespace {

using Remedies = std::vector<std::string>;

constexpr std::uint64_t least_namespaces = 64;
constexpr std::string_view more_namespaces = "user.max_user_namespaces=10000";
// A comment of the shell: the line is copied whole.
constexpr std::string_view for_everybody =
    "  # a weakening of the whole machine: every user may make user namespaces";

std::string_view what_failed(NamespaceStep step) {
  constexpr std::array<std::string_view, 7> words = {"",
                                                     "a user namespace",
                                                     "the ids of a user namespace",
                                                     "the other namespaces of a cell",
                                                     "a mount inside of a user namespace",
                                                     "forbidding further user namespaces in a cell",
                                                     "a /proc of a cell's own"};
  return words.at(static_cast<std::size_t>(step));
}

std::string sysctl_command(std::string_view line) {
  return fmt::format(
      "echo '{}' | sudo tee -a /etc/sysctl.d/60-cellblock.conf && sudo sysctl --system", line);
}

std::string sysctl_for_everybody(std::string_view line) {
  return sysctl_command(line) + std::string(for_everybody);
}

// The hint is also told where a cell's start fails.
Remedies proc_remedy(SetupStep step, int error) {
  return {std::string(hint_for(step, error)),
          "(as a weakening of the whole container: what it hides of /proc is seen by all in it)"};
}

// Of cellblock's programs these two make user namespaces. Written as Ubuntu's own profiles for
// browsers are: it confines nothing, and lets user namespaces be made.
std::string apparmor_profile() {
  constexpr std::string_view sbin = CELLBLOCK_SBINDIR;
  constexpr std::string_view libexec = CELLBLOCK_LIBEXECDIR;
  return fmt::format(
      "printf 'abi <abi/4.0>,\\nprofile cellblock /{{{}/cellblockd,{}/cellblock-launcher}} "
      "flags=(unconfined) {{\\n  userns,\\n}}\\n' | sudo tee /etc/apparmor.d/cellblock && sudo "
      "apparmor_parser -r /etc/apparmor.d/cellblock  # for cellblock's programs alone; then start "
      "cellblockd anew",
      sbin.substr(1), libexec.substr(1));
}

Remedies apparmor_remedy() {
  return {apparmor_profile(),
          "or, for all programs: " +
              sysctl_for_everybody("kernel.apparmor_restrict_unprivileged_userns=0")};
}

Remedies container_remedy() {
  return {
      "in a container: give it profiles that let cellblock make them (docker: --security-opt "
      "seccomp=FILE, which is docker's default profile with clone, clone3, unshare, setns, mount, "
      "umount2, pivot_root, open_tree, move_mount, mount_setattr and sethostname allowed; "
      "--security-opt apparmor=PROFILE, which allows userns and mount; and --security-opt "
      "systempaths=unconfined, which shows all in the container what docker hides of /proc)",
      "or, as a weakening of the whole container, docker: --security-opt seccomp=unconfined "
      "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"};
}

// In the order in which the kernel asks.
Remedies namespace_remedy(const MachineFacts& facts) {
  const auto& limits = facts.limits;
  if (limits.unprivileged_clone == 0U) {
    return {sysctl_for_everybody("kernel.unprivileged_userns_clone=1")};
  }
  if (limits.most_namespaces == 0U) return {sysctl_for_everybody(more_namespaces)};
  if (limits.most_namespaces && *limits.most_namespaces < least_namespaces) {
    return {sysctl_command(more_namespaces)};
  }
  if (facts.namespaces.step == NamespaceStep::proc) {
    return proc_remedy(SetupStep::mount_proc, EPERM);
  }
  if (facts.namespaces.step == NamespaceStep::limit) {
    return proc_remedy(SetupStep::forbid_user_namespaces, EROFS);
  }
  return limits.apparmor.value_or(0) != 0 ? apparmor_remedy() : container_remedy();
}

std::string_view restriction_of(const NamespaceLimits& limits) {
  if (limits.unprivileged_clone == 0U) return "; kernel.unprivileged_userns_clone is 0";
  if (limits.most_namespaces == 0U) return "; user.max_user_namespaces is 0";
  if (limits.apparmor.value_or(0) != 0) {
    return "; kernel.apparmor_restrict_unprivileged_userns is on";
  }
  return "";
}

DoctorFinding few_namespaces(std::uint64_t most) {
  return {.check = "user namespaces",
          .grade = Grade::weaker,
          .need = NeededFor::cells,
          .says = fmt::format("user.max_user_namespaces is {}: room for few cells", most),
          .remedy = {sysctl_command(more_namespaces)}};
}

// An ordinary user becomes nobody else, so of the system's cells he tries a part as himself.
std::string made_by(const MachineFacts& facts) {
  auto says = fmt::format("a child has made all of a cell's namespaces as {}", facts.tried_as);
  if (facts.mode == RunMode::user || facts.tried_as == facts.daemon_user) return says;
  return fmt::format("{}; not tried as {}, whom cellblockd becomes", says, facts.daemon_user);
}

}  // namespace

DoctorFinding namespace_finding(const MachineFacts& facts) {
  const auto& [step, error] = facts.namespaces;
  if (step != NamespaceStep::done) {
    return {.check = "user namespaces",
            .grade = Grade::missing,
            .need = NeededFor::cells,
            .says = fmt::format("{} cannot be had: {}{}", what_failed(step), errno_name(error),
                                restriction_of(facts.limits)),
            .remedy = namespace_remedy(facts)};
  }
  const auto most = facts.limits.most_namespaces;
  if (most && *most < least_namespaces) return few_namespaces(*most);
  return {.check = "user namespaces", .need = NeededFor::cells, .says = made_by(facts)};
}

}  // namespace cellblock
