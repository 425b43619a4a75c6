#include "policy/doctor/machine_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "policy/failures/errno_and_signal_names.h"
#include "policy/failures/setup_step.h"
#include "policy/sandbox/weakenings.h"

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

// Whether a cell's namespaces can be made here, and by whom that was tried. Of remedies the one
// that opens least comes first, and what weakens more than cellblock's own programs is called so.
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

using Remedy = std::vector<std::string>;

// Linux 6.12, of which Debian 13 is made. What later ones add is a second fence around what the
// mounts and the filter forbid already, and few machines have it.
constexpr std::uint32_t usual_landlock = 6;
constexpr std::uint32_t ids_for_a_user = 65'536;  // as useradd gives them

bool is_rootless(const MachineFacts& facts) { return facts.mode == RunMode::user; }

DoctorFinding good(std::string check, NeededFor need, std::string says) {
  return {.check = std::move(check), .need = need, .says = std::move(says)};
}

// ---- the kernel ----

DoctorFinding kernel_finding(const MachineFacts& facts) {
  if (facts.missing_calls.empty()) {
    return good(
        "kernel", NeededFor::cells,
        fmt::format("Linux {}, with every system call that cells are made with", facts.kernel));
  }
  return {
      .check = "kernel",
      .grade = Grade::missing,
      .need = NeededFor::cells,
      .says =
          fmt::format("Linux {} refuses {}", facts.kernel, fmt::join(facts.missing_calls, ", ")),
      .remedy = {fmt::format("use Linux 6.1 or later; in a container, let its seccomp profile pass "
                             "these calls (docker: --security-opt seccomp=FILE, which is docker's "
                             "default profile with {} allowed)",
                             fmt::join(facts.missing_calls, ", ")),
                 "or, as a weakening of the whole container, docker: --security-opt "
                 "seccomp=unconfined"}};
}

// ---- Landlock ----

constexpr std::string_view newer_kernel = "use a newer kernel; Linux 6.12 has ABI 6";

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "; "));
}

DoctorFinding no_landlock(const MachineFacts& facts) {
  const bool has_any = facts.landlock_abi > 0;
  return {.check = "Landlock",
          .grade = Grade::missing,
          .need = NeededFor::cells,
          .says = has_any ? fmt::format("ABI {}, and {} is required", facts.landlock_abi,
                                        facts.min_landlock)
                          : "this kernel has none, or it is not switched on",
          .remedy = {has_any ? "use a newer kernel; Linux 6.1 has ABI 2"
                             : "add landlock to the boot parameter lsm= (cat "
                               "/sys/kernel/security/lsm shows which are on)",
                     "or, as a weakening, in cellblock.toml: [sandbox] min_landlock = " +
                         std::to_string(facts.landlock_abi)}};
}

DoctorFinding landlock_finding(const MachineFacts& facts) {
  const auto abi = facts.landlock_abi;
  if (abi < facts.min_landlock) return no_landlock(facts);
  const auto lacks = landlock_lacks(abi);
  if (abi < usual_landlock) {
    return {.check = "Landlock",
            .grade = Grade::weaker,
            .need = NeededFor::cells,
            .says = joined(lacks),
            .remedy = {std::string(newer_kernel)}};
  }
  return good("Landlock", NeededFor::cells, fmt::format("ABI {}", abi));
}

// ---- seccomp ----

DoctorFinding seccomp_finding(const MachineFacts& facts) {
  const int error = facts.notification_error;
  if (error == 0) {
    return good("seccomp", NeededFor::cells,
                "filters, and refused calls are reported (user notification)");
  }
  const bool is_taken = error == EBUSY;
  return {.check = "seccomp",
          .grade = Grade::missing,
          .need = NeededFor::cells,
          .says = is_taken ? "another program is told of refused calls here already (EBUSY): the "
                             "kernel has one such listener for a process"
                           : fmt::format("a filter with user notification is refused: {}",
                                         errno_name(error)),
          .remedy = {is_taken ? "run cellblockd outside of that sandbox or container runtime"
                              : "use a kernel with CONFIG_SECCOMP_FILTER=y; in a container, as a "
                                "weakening of the whole of it: --security-opt "
                                "seccomp=unconfined"}};
}

// ---- control groups ----

std::vector<std::string> lacking(const Cgroup& cgroup) {
  std::vector<std::string> names;
  if (!cgroup.memory) names.emplace_back("memory");
  if (!cgroup.pids) names.emplace_back("pids");
  if (!cgroup.cpu) names.emplace_back("cpu");
  return names;
}

// "cpuset cpu memory": blank-separated.
bool has_name(std::string_view names, std::string_view name) {
  const auto padded = fmt::format(" {} ", names.substr(0, names.find('\n')));
  return padded.find(fmt::format(" {} ", name)) != std::string::npos;
}

std::vector<std::string> not_passed_on(std::string_view controllers) {
  std::vector<std::string> names;
  for (const std::string_view name : {"memory", "pids", "cpu"}) {
    if (!has_name(controllers, name)) names.emplace_back(name);
  }
  return names;
}

DoctorFinding weaker_cgroup(std::string says, Remedy remedy) {
  return {.check = "control groups",
          .grade = Grade::weaker,
          .need = NeededFor::cells,
          .says = std::move(says) + ": limits of a server hold for each process alone",
          .remedy = std::move(remedy)};
}

Remedy delegation_remedy(const MachineFacts& facts) {
  if (!facts.host_has_controllers) {
    return {
        "boot with cgroup v2 alone (kernel parameter systemd.unified_cgroup_hierarchy=1); in a "
        "container: run it with the host's cgroup v2 delegated (podman run --systemd=always)"};
  }
  if (facts.session.has_service_manager && is_rootless(facts)) {
    return {
        "sudo mkdir -p /etc/systemd/system/user@.service.d && printf "
        "'[Service]\\nDelegate=cpu io memory pids\\n' | sudo tee "
        "/etc/systemd/system/user@.service.d/delegate.conf && sudo systemctl daemon-reload",
        "then log in again, and start cellblockd as a service: systemctl --user enable --now "
        "cellblock.socket"};
  }
  if (facts.session.has_service_manager) {
    return {"start cellblockd as a service: systemctl enable --now cellblock.socket"};
  }
  return {
      "give cellblockd a group of its own: sudo mkdir /sys/fs/cgroup/cellblock, and in "
      "cellblock.toml: [daemon] cgroup = \"/sys/fs/cgroup/cellblock\" (docs/configuration/"
      "installation.md)"};
}

DoctorFinding cgroup_finding(const MachineFacts& facts) {
  const auto& cgroup = facts.cgroup;
  if (cgroup.directory.empty()) {
    return weaker_cgroup(cgroup.missing_because, delegation_remedy(facts));
  }
  if (const auto names = lacking(cgroup); !names.empty()) {
    return weaker_cgroup(fmt::format("no controller for {}", fmt::join(names, ", ")),
                         delegation_remedy(facts));
  }
  if (facts.passed_controllers) {
    const auto names = not_passed_on(*facts.passed_controllers);
    if (!names.empty()) {
      return weaker_cgroup(
          fmt::format("your service manager is not given {}", fmt::join(names, ", ")),
          delegation_remedy(facts));
    }
  }
  return good("control groups", NeededFor::cells, "cgroup v2 with memory, pids and cpu");
}

// ---- ids ----

DoctorFinding subordinate_finding(const MachineFacts& facts) {
  const auto& ids = facts.subordinate;
  DoctorFinding finding{
      .check = "subordinate ids", .grade = Grade::weaker, .need = NeededFor::cells};
  constexpr std::string_view cost = ": all servers run under your own uid";
  if (!ids.has_helpers) {
    finding.says = fmt::format("newuidmap and newgidmap are missing{}", cost);
    finding.remedy = {"sudo apt-get install uidmap"};
  } else if (ids.helpers_are_powerless) {
    finding.says = fmt::format(
        "newuidmap and newgidmap may not write ids here: they have no file capability, and are not "
        "set-uid or in a container without CAP_SYS_ADMIN; or no_new_privs, a mount with nosuid or "
        "a "
        "container without CAP_SETUID and CAP_SETGID keeps theirs from them{}",
        cost);
    finding.remedy = {"chmod u-s /usr/bin/newuidmap /usr/bin/newgidmap",
                      "setcap cap_setuid+ep /usr/bin/newuidmap",
                      "setcap cap_setgid+ep /usr/bin/newgidmap"};
  } else if (ids.count == 0) {
    finding.says = fmt::format(
        "/etc/subuid and /etc/subgid have no common range of at least 16 "
        "ids for {}{}",
        facts.user, cost);
    const auto first = facts.subordinate.first_free;
    finding.remedy = {fmt::format("sudo usermod --add-subuids {0}-{1} --add-subgids {0}-{1} {2}",
                                  first, first + ids_for_a_user - 1, facts.user)};
  } else if (!ids.problem.empty()) {
    finding.grade = Grade::missing;
    finding.says = fmt::format("newuidmap does not write them: {}", ids.problem);
    finding.remedy = {
        "ls -l /usr/bin/newuidmap has to show rws: sudo apt-get install --reinstall "
        "uidmap; in a container it must be allowed to gain privileges"};
  } else {
    return good("subordinate ids", NeededFor::cells,
                fmt::format("{} to {}: each server has an id of its own", ids.first,
                            ids.first + ids.count - 1));
  }
  return finding;
}

DoctorFinding account_finding(const MachineFacts& facts) {
  if (facts.has_daemon_user) {
    return good("account", NeededFor::cells,
                fmt::format("cellblockd becomes {}", facts.daemon_user));
  }
  return {.check = "account",
          .grade = Grade::missing,
          .need = NeededFor::cells,
          .says = fmt::format("there is no user {} for cellblockd to become", facts.daemon_user),
          .remedy = {fmt::format("sudo useradd --system --user-group --home-dir /nonexistent "
                                 "--shell /usr/sbin/nologin {}",
                                 facts.daemon_user)}};
}

DoctorFinding id_mapping_finding(const MachineFacts& facts) {
  if (facts.id_mapping_problem.empty()) {
    return good("ID-mapped mounts", NeededFor::some,
                "servers write users' files as their owners (tried on /home)");
  }
  return {.check = "ID-mapped mounts",
          .grade = Grade::weaker,
          .says = fmt::format("/home: {}: what a server writes belongs to the server's id",
                              facts.id_mapping_problem),
          .remedy = {"keep users' files on a file system that has them (ext4, xfs, btrfs, tmpfs), "
                     "with Linux 6.1 or later",
                     "or, for one server, in its declaration: run_as = \"client\""}};
}

// ---- the session ----

DoctorFinding runtime_finding(const MachineFacts& facts) {
  const auto& session = facts.session;
  if (!session.runtime_directory.empty() && session.runtime_problem.empty()) {
    return good("XDG_RUNTIME_DIR", NeededFor::daemon, session.runtime_directory);
  }
  return {.check = "XDG_RUNTIME_DIR",
          .grade = Grade::missing,
          .need = NeededFor::daemon,
          .says = session.runtime_directory.empty()
                      ? "it is not set: there is no place for your socket"
                      : fmt::format("{}: {}", session.runtime_directory, session.runtime_problem),
          .remedy = {
              session.has_service_manager
                  ? fmt::format("log in again, or: export XDG_RUNTIME_DIR=/run/user/{}", facts.uid)
                  : "mkdir -m 0700 -p ~/.run && export XDG_RUNTIME_DIR=~/.run"}};
}

DoctorFinding lingering_finding(const MachineFacts& facts) {
  if (facts.session.lingers) {
    return good("lingering", NeededFor::some, "your services run without a login too");
  }
  return {.check = "lingering",
          .grade = Grade::missing,
          .says = "your services, cellblockd among them, end with your last login",
          .remedy = {fmt::format("loginctl enable-linger {}", facts.user)}};
}

void add_rootless(const MachineFacts& facts, std::vector<DoctorFinding>& findings) {
  findings.push_back(subordinate_finding(facts));
  findings.push_back(runtime_finding(facts));
  if (facts.session.has_service_manager) findings.push_back(lingering_finding(facts));
}

void add_system(const MachineFacts& facts, std::vector<DoctorFinding>& findings) {
  findings.push_back(account_finding(facts));
  if (facts.id_mapping == Tried::yes) findings.push_back(id_mapping_finding(facts));
}

}  // namespace

std::vector<DoctorFinding> machine_findings(const MachineFacts& facts) {
  std::vector<DoctorFinding> findings{kernel_finding(facts), namespace_finding(facts),
                                      landlock_finding(facts), seccomp_finding(facts),
                                      cgroup_finding(facts)};
  is_rootless(facts) ? add_rootless(facts, findings) : add_system(facts, findings);
  return findings;
}

}  // namespace cellblock
