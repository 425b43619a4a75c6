#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

/// Which process has locked a file, and by which command it was started. Pure.
namespace cellblock::cli {

/// The process that holds a lock of flock(2) on that file. `locks`: the text of /proc/locks.
/// nullopt: it names none, or one of another PID namespace.
std::optional<pid_t> lock_holder(std::string_view locks, dev_t device, ino_t file);

/// The first words of a command line, printable: without options, and nothing from the first
/// NAME=VALUE on, which may be a secret. `cmdline`: the text of /proc/PID/cmdline.
std::string shown_command(std::string_view cmdline);

}  // namespace cellblock::cli
