#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// Opens a program to be executed later, when its path may be out of reach.
SysResult<Fd> open_program(const std::string& path);

enum class Environment : std::uint8_t { empty, ours };

/// Starts an open program as a child with default signals, /dev/null as stdin, this process's
/// stderr as stdout and stderr, and `fds` as 3, 4, …; no other descriptor is inherited. Returns
/// once it runs, or with the errno of the failed step. The caller has one thread, and reaps.
SysResult<pid_t> spawn(int program, const std::vector<std::string>& arguments,
                       std::span<const int> fds, Environment environment = Environment::empty);

/// Replaces this process by an open program, with the same environment, ids, signal mask, standard
/// descriptors and children, and `fds` as 3, 4, …; no other descriptor is passed. Returns only with
/// an error; the descriptors from 3 on have been renumbered then. The caller has one thread.
SysError become(int program, const std::vector<std::string>& arguments, std::span<const int> fds);

/// For a program that begins, and for a child before its exec, since blocked and ignored signals
/// survive an exec. Makes system calls only.
bool reset_signals();

/// "exited with code 1", "was killed by signal 9"; `status`: of waitpid(2).
std::string explain_status(int status);

}  // namespace cellblock::daemon
