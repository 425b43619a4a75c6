#include "policy/failures/setup_step.h"

#include <array>
#include <cerrno>

namespace cellblock {
namespace {

constexpr std::array<std::string_view, setup_step_count> step_names = {
    "none",
    "assign_id",
    "open_home",
    "make_cgroup",
    "make_network",
    "prepare",
    "clone",
    "map_ids",
    "wait_for_launcher",
    "new_session",
    "become_user",
    "die_with_launcher",
    "isolate_mounts",
    "set_hostname",
    "forbid_user_namespaces",
    "open_workspace",
    "build_root",
    "place_home_files",
    "place_secrets",
    "mount_proc",
    "enter_root",
    "set_limits",
    "start_guardian",
    "drop_capabilities",
    "prove_dropped",
    "no_new_privileges",
    "new_keyring",
    "start_server",
    "place_stdio",
    "reset_signals",
    "close_descriptors",
    "enter_landlock",
    "load_filter",
    "exec",
};

struct Hint {
  SetupStep step;
  int error;
  std::string_view text;
};

constexpr std::string_view home_taken =
    "the server has something else in its home where a file of home_files goes: run \"cellblock "
    "home clear SERVER\"";

constexpr std::string_view filtered_by_engine =
    "a filter of system calls is around cellblockd, as container engines have one: "
    "/usr/share/cellblock/container/seccomp_profile.py makes a profile of the engine's own";

constexpr Hint hints[] = {
    {SetupStep::assign_id, ENOSPC, "the disk of the state directory is full"},
    {SetupStep::assign_id, ERANGE, "every id of daemon.id_range is given: make the range larger"},
    {SetupStep::assign_id, EUSERS,
     "every id that daemon.id_range leaves for gateways and egress helpers is in use: make the "
     "range larger"},
    {SetupStep::open_home, EPERM,
     "the directory in the state directory belongs to another id: was the state of another "
     "installation copied?"},
    {SetupStep::make_network, ENOSPC,
     "a limit on namespaces was reached: see user.max_net_namespaces"},
    {SetupStep::open_home, EACCES,
     "home/SERVER/UID in the state directory belongs to an id that cellblock does not act for any "
     "more (run_as was changed?): chown -R it to the user of run_as or, with \"own\", to the id "
     "that the file ids there gives this server and user"},
    {SetupStep::open_home, E2BIG,
     "home/SERVER/UID in the state directory is to change its owner and has too many entries for "
     "that: chown -R it to the user of run_as or, with \"own\", to the id that the file ids there "
     "gives this server and user, and start cellblockd again"},
    {SetupStep::open_home, ELOOP,
     "home/SERVER/UID in the state directory is to change its owner and is too deep for that: "
     "chown -R it to the user of run_as or, with \"own\", to the id that the file ids there gives "
     "this server and user, and start cellblockd again"},
    {SetupStep::open_workspace, EACCES,
     "the user that the server runs as must be able to reach the directory: see run_as"},
    {SetupStep::open_workspace, ENOENT,
     "the directory is not where it was, or in what was mounted after the daemon started"},
    {SetupStep::open_workspace, ELOOP, "the path of the directory goes through a symbolic link"},
    {SetupStep::open_workspace, ESTALE,
     "another directory is at its path now, or it is in what was mounted after the daemon started"},
    {SetupStep::place_home_files, ELOOP, home_taken},
    {SetupStep::place_home_files, ENOTDIR, home_taken},
    {SetupStep::place_home_files, EEXIST, home_taken},
    {SetupStep::prepare, EACCES,
     "the daemon's user must be able to reach every path under image, read, write and home_files"},
    {SetupStep::prepare, ENOENT, "a path under image, read, write or home_files does not exist"},
    {SetupStep::prepare, ELOOP,
     "a path under image, read, write or home_files goes through a symbolic link: name the real "
     "path"},
    {SetupStep::prepare, EOPNOTSUPP,
     "a path under image, read, write or home_files is a device, a socket or a pipe"},
    {SetupStep::prepare, E2BIG,
     "the image has more than 1024 entries beside places that the cell has of its own: declare "
     "nothing inside of its large directories"},
    {SetupStep::prepare, ESTALE, "a declared path was not there when cellblockd read its files"},
    {SetupStep::prepare, ETIMEDOUT,
     "a declared path did not answer when cellblockd read its files: is it in a FUSE or network "
     "file system whose server is gone?"},
    {SetupStep::prepare, EMFILE, "the daemon is out of descriptors: raise LimitNOFILE"},
    {SetupStep::clone, EPERM,
     "user namespaces are restricted here: see kernel.unprivileged_userns_clone and "
     "kernel.apparmor_restrict_unprivileged_userns"},
    {SetupStep::clone, ENOSPC, "a limit on namespaces was reached: see user.max_*_namespaces"},
    {SetupStep::clone, EAGAIN, "a limit on processes was reached: raise TasksMax"},
    {SetupStep::enter_root, EACCES,
     "a directory on the way is closed to the daemon's user, or working_directory to the server's"},
    {SetupStep::enter_root, ENOENT, "working_directory does not exist in the cell"},
    {SetupStep::enter_root, ENOTDIR, "working_directory is no directory in the cell"},
    {SetupStep::mount_proc, EPERM,
     "parts of /proc are covered here, and then the kernel refuses a /proc of the cell's own: run "
     "cellblockd where /proc is whole, without ProtectKernelTunables= and the like under systemd, "
     "with --security-opt systempaths=unconfined (docker), --security-opt unmask=ALL (podman) or "
     "procMount: Unmasked (Kubernetes) in a container"},
    {SetupStep::clone, ENOSYS, filtered_by_engine},
    {SetupStep::make_network, EPERM, filtered_by_engine},
    {SetupStep::set_hostname, EPERM, filtered_by_engine},
    {SetupStep::new_keyring, EPERM, filtered_by_engine},
    {SetupStep::forbid_user_namespaces, EROFS,
     "/proc/sys is read-only here, as in most containers: let the container have /proc as it is "
     "(docker: --security-opt systempaths=unconfined; podman: --security-opt unmask=ALL; "
     "Kubernetes: procMount: Unmasked)"},
    {SetupStep::make_cgroup, ENOENT,
     "a declared limit needs a controller that the group of daemon.cgroup does not have"},
    {SetupStep::make_cgroup, EACCES,
     "the group of daemon.cgroup can no longer be written: was it taken over by something else?"},
    {SetupStep::make_cgroup, EAGAIN,
     "cgroup.max.descendants of daemon.cgroup's group, or of one above, is reached"},
    {SetupStep::make_cgroup, ENODEV, "the group of daemon.cgroup was removed meanwhile"},
    {SetupStep::clone, EACCES, "cgroup.procs of daemon.cgroup's group must belong to daemon.user"},
    {SetupStep::set_limits, EPERM, "the limit is above the daemon's own hard limit"},
    {SetupStep::exec, ENOENT,
     "outside /usr, /bin and the like a cell sees only what the server declares: name the "
     "directory of the command under program or read"},
    {SetupStep::exec, EACCES,
     "the file must be executable by others, and so must its directories; below write paths, the "
     "home and the workspace nothing runs unless execute_writable = true"},
    {SetupStep::enter_landlock, ENOENT,
     "a declared path is not there any more: was it moved while the daemon ran?"},
    {SetupStep::enter_landlock, ELOOP,
     "a declared path leads through a symbolic link that was made while the daemon ran"},
};

}  // namespace

std::string_view name_of(SetupStep step) {
  const auto index = static_cast<std::size_t>(step);
  return index < step_names.size() ? step_names[index] : "unknown";
}

std::string_view hint_for(SetupStep step, int error) {
  for (const Hint& hint : hints) {
    if (hint.step == step && hint.error == error) return hint.text;
  }
  return {};
}

std::string_view name_of(ExecDetail detail) {
  switch (detail) {
    case ExecDetail::none:
      return "";
    case ExecDetail::command_missing:
      return "the command does not exist inside the cell";
    case ExecDetail::is_directory:
      return "the command is a directory";
    case ExecDetail::not_executable:
      return "the command is not executable";
    case ExecDetail::unknown_format:
      return "the command is neither a program nor a script with a #! line";
    case ExecDetail::interpreter_missing:
      return "the interpreter on the command's #! line does not exist inside the cell";
    case ExecDetail::loader_missing:
      return "the command's program loader does not exist inside the cell";
    case ExecDetail::wrong_architecture:
      return "the command is built for another architecture";
    case ExecDetail::command_changed:
      return "the command's file is not the one whose sha256 was checked: if it was changed on "
             "purpose, put its new digest (sha256sum FILE) into server.NAME.sha256, run cellblockd "
             "--check, then restart cellblockd";
  }
  return "";
}

}  // namespace cellblock
