#pragma once

#include <string>
#include <vector>

/// What a daemon left on the machine. The test process makes itself the reaper of all orphans below
/// it, so whatever a daemon fails to end becomes a child of the test, however deep in pid
/// namespaces it was.
namespace cellblock::harness {

/// Call before the daemon is started.
void become_reaper();

/// Waits until every child of this process has ended, and reaps them; gives the ones that were
/// still there at the deadline ("4711 node /opt/x"). Call when every Process has been waited for.
std::vector<std::string> surviving_children();

/// The mounts of this process's mount namespace, a line each.
std::vector<std::string> mounts();

/// The pids of `pid`'s descendants, parents before children.
std::vector<int> descendants_of(int pid);

/// Without the helpers of a moment: the daemon and its launcher have short-lived children that
/// share their user namespace, which make a network or close a descriptor. Waits for their end; one
/// that does not end is told like any other process.
std::vector<int> lasting_descendants_of(int pid);

/// A line of /proc/PID/status without its key ("CapEff" -> "0000000000000000"); empty if the
/// process is gone.
std::string status_field(int pid, const std::string& key);

/// Arguments with spaces between them.
std::string command_line(int pid);

}  // namespace cellblock::harness
