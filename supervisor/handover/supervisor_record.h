#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/base/result.h"
#include "supervisor/activation/socket_path.h"
#include "supervisor/os/sys.h"

/// The state that crosses the exec from cellblockd to cellblock-supervisor: descriptors with fixed
/// numbers, and one sealed record of all that is no descriptor.
namespace cellblock::daemon {

namespace supervisor_fd {
inline constexpr int first = 3;
inline constexpr int record = 3;
inline constexpr int config = 4;        ///< sealed
inline constexpr int declared = 5;      ///< sealed: report/declared_parts.h
inline constexpr int reload_facts = 6;  ///< sealed: handover/reload_protocol.h
inline constexpr int launcher_channel = 7;
inline constexpr int launcher_pidfd = 8;
inline constexpr int launcher_user_namespace = 9;
inline constexpr int log = 10;  ///< brings the pipes of cellblock's own processes: logs/log_relay.h
inline constexpr int state_directory = 11;  ///< locked
inline constexpr int own_group = 12;        ///< locked; kept, and not used
inline constexpr int cellblockd = 13;       ///< the program, for a reload after SIGHUP
inline constexpr int mcp_socket = 14;
// A descriptor that the configuration does not need is /dev/null.
inline constexpr int http_tcp = 15;
inline constexpr int http_unix = 16;
inline constexpr int metrics = 17;
inline constexpr int journal = 18;
inline constexpr int audit_files = 19;  ///< two of each file: to append, to read
}  // namespace supervisor_fd

struct SupervisorRecord {
  pid_t launcher = -1;
  std::string notify_socket;     ///< the service manager's; empty: none
  std::int64_t watchdog_us = 0;  ///< ServiceOffer::watchdog; 0: none
  BoundSocket::File mcp;         ///< without a path: the socket is lent
  BoundSocket::File http;
  BoundSocket::File metrics;
  std::size_t current_audit_file = 0;
  std::vector<std::int64_t> audit_since;  ///< AuditFile::since of each
};

Result<Fd> seal(const SupervisorRecord& record);
/// EPERM: it is not sealed. Refuses any bytes that seal() would not have written.
Result<SupervisorRecord> read_supervisor_record(int sealed);

}  // namespace cellblock::daemon
