#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "policy/doctor/finding.h"

/// What this machine gives to cells: facts in, findings out. Pure.
namespace cellblock {

/// How far a child came with the namespaces of a cell, as the user who would make them.
enum class NamespaceStep : std::uint8_t {
  done,
  user,   ///< unshare(CLONE_NEWUSER)
  ids,    ///< its uid and gid map
  other,  ///< mount, pid, ipc, uts, network and cgroup namespaces in it
  mount,  ///< a file system in them
  limit,  ///< no further user namespaces in it
  proc,   ///< a /proc of its own
};

struct NamespaceAttempt {
  NamespaceStep step = NamespaceStep::done;
  int error = 0;
};

/// Whether it was tried as root's daemon would: by another process of that user.
enum class Tried : std::uint8_t { no, yes };

/// Values in /proc/sys; absent: this kernel has no such file.
struct NamespaceLimits {
  std::optional<std::uint64_t> unprivileged_clone;  ///< kernel.unprivileged_userns_clone
  std::optional<std::uint64_t> most_namespaces;     ///< user.max_user_namespaces
  std::optional<std::uint64_t> apparmor;  ///< kernel.apparmor_restrict_unprivileged_userns
};

struct SubordinateIds {
  std::uint32_t first_free = 0;        ///< behind every range of both files
  bool has_helpers = false;            ///< newuidmap and newgidmap
  bool helpers_are_powerless = false;  ///< they have not the privilege that they need here
  std::uint32_t first = 0;             ///< of what both files give this user
  std::uint32_t count = 0;
  std::string problem;  ///< why newuidmap did not write them; empty: it did, or it was not asked
};

struct SessionFacts {
  std::string runtime_directory;  ///< XDG_RUNTIME_DIR; empty: not set
  std::string runtime_problem;    ///< why it cannot be used; empty: it can
  bool has_service_manager = false;
  bool lingers = false;
};

struct MachineFacts {
  RunMode mode = RunMode::system;
  std::uint32_t uid = 0;
  std::string user;                        ///< the name of the account that asks, or its number
  std::string daemon_user;                 ///< system mode: the daemon's user
  std::string tried_as;                    ///< whose child tried the namespaces
  bool has_daemon_user = true;             ///< system mode: there is such an account
  std::string kernel;                      ///< its release
  std::vector<std::string> missing_calls;  ///< system calls that the launcher makes
  NamespaceAttempt namespaces;
  NamespaceLimits limits;
  std::uint32_t landlock_abi = 0;
  std::uint32_t min_landlock = 2;
  int notification_error = 0;        ///< of a filter with a listener, installed in a child
  bool host_has_controllers = true;  ///< cgroup v2 has controllers, delegated or not
  Cgroup cgroup;                     ///< as the check of a configuration sees it
  /// Rootless under a service manager: the controllers that it passes on; absent: not known.
  std::optional<std::string> passed_controllers;
  SubordinateIds subordinate;
  Tried id_mapping = Tried::no;
  std::string id_mapping_problem;  ///< of an ID-mapped mount of /home; empty: it was made
  SessionFacts session;
};

std::vector<DoctorFinding> machine_findings(const MachineFacts& facts);

}  // namespace cellblock
