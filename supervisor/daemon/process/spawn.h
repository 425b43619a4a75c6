#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// A program to be started later, whatever may be reached by path then.
SysResult<Fd> open_program(const std::string& path);

enum class Environment : std::uint8_t { empty, ours };

/// Executes an open program with default signals, /dev/null as stdin, our stderr as stdout and
/// stderr, and `fds` as 3, 4, …; nothing else is inherited. Returns once it runs, or with the errno
/// of what failed. The caller has one thread, and reaps.
SysResult<pid_t> spawn(int program, const std::vector<std::string>& arguments,
                       std::span<const int> fds, Environment environment = Environment::empty);

/// Becomes an open program: with our environment, ids, signal mask, standard descriptors and
/// children, and `fds` as 3, 4, …; no other descriptor is passed. Returns only what failed, and
/// then the numbers from 3 on are no longer those that they were. The caller has one thread.
SysError become(int program, const std::vector<std::string>& arguments, std::span<const int> fds);

/// For a child before its exec, which blocked and ignored signals survive: system calls alone.
bool reset_signals();

/// "exited with code 1", "was killed by signal 9"; of a status as waitpid gives it.
std::string explain_status(int status);

}  // namespace cellblock::daemon
