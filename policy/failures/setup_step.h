#pragma once

#include <cstdint>
#include <string_view>

/// The steps that turn a fresh process into a cell. The list is told four times (code, error
/// reports, exit codes, docs/cells.md) and a test holds the four together.
namespace cellblock {

enum class SetupStep : std::uint8_t {
  none = 0,
  assign_id,          ///< launcher: the uid of this server for this user, recorded on disk
  open_home,          ///< launcher: the home directory, owned by that uid
  make_cgroup,        ///< launcher: the cell's group and its limits
  make_network,       ///< launcher: a prepared network namespace, with egress its sockets
  prepare,            ///< launcher: the root template, pipes; the command unchanged
  clone,              ///< launcher: clone3 with the cell's namespaces
  map_ids,            ///< launcher: the one-id uid and gid map
  wait_for_launcher,  ///< end of file here: the launcher is gone
  new_session,        ///< setsid: no controlling terminal
  become_user,        ///< groups, gid, uid, in that order
  die_with_launcher,  ///< after the id change, which clears it
  isolate_mounts,     ///< propagation off first, or later mounts leak out
  set_hostname,
  forbid_user_namespaces,  ///< max_user_namespaces = 0, while /proc/sys can still be reached
  open_workspace,    ///< the host's directory, found again where it may be; as the cell's user
  build_root,        ///< the template, /tmp, /dev/shm and the home directory in their places
  place_home_files,  ///< `home_files` over files of the home
  place_secrets,     ///< into a tmpfs that is then read-only
  mount_proc,        ///< while the old /proc is still there: the kernel compares
  enter_root,        ///< pivot_root, the old root detached, the new one proved read-only
  set_limits,
  start_guardian,     ///< the server's parent; needs privilege for its unsuspicious pid
  drop_capabilities,  ///< bounding set first (needs CAP_SETPCAP), securebits, then all sets
  prove_dropped,      ///< read everything back, and try to regain what was given up
  no_new_privileges,
  new_keyring,
  start_server,  ///< the process that becomes the server
  place_stdio,
  reset_signals,
  close_descriptors,
  enter_landlock,  ///< its calls are not needed afterwards
  load_filter,     ///< last, since it forbids most steps above
  exec,
};

inline constexpr std::uint8_t setup_step_count = static_cast<std::uint8_t>(SetupStep::exec) + 1;

/// Why exec failed, found out inside the cell after errno alone said too little.
enum class ExecDetail : std::uint8_t {
  none = 0,
  command_missing,
  is_directory,
  not_executable,
  unknown_format,
  interpreter_missing,  ///< of a `#!` line
  loader_missing,       ///< the ELF program interpreter
  wrong_architecture,
  command_changed,  ///< it is no longer the file whose sha256 was checked
};

inline constexpr std::uint8_t exec_detail_count =
    static_cast<std::uint8_t>(ExecDetail::command_changed) + 1;

/// "enter_root"; the name in errors, status and documentation.
std::string_view name_of(SetupStep step);

/// The exit code of a process that failed at this step (64 + its place in the list).
constexpr int exit_code_of(SetupStep step) { return 64 + static_cast<int>(step); }

/// What usually causes a failure with this errno at this step, and what to do; empty if unknown.
std::string_view hint_for(SetupStep step, int error);

/// "the interpreter named on its first line does not exist inside the cell"
std::string_view name_of(ExecDetail detail);

}  // namespace cellblock
