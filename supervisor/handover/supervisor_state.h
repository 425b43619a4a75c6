#pragma once

#include <string>

#include "supervisor/activation/bound_sockets.h"
#include "supervisor/activation/service_offer.h"
#include "supervisor/activation/socket_path.h"
#include "supervisor/handover/audit_files.h"
#include "supervisor/handover/launcher_process.h"
#include "supervisor/os/sys.h"

namespace cellblock::daemon {

/// All that cellblockd has opened, bound and started for the supervisor. Holds no secret. The
/// supervisor has no rights to open any of it again.
struct SupervisorState {
  Fd config;        ///< sealed
  Fd declared;      ///< sealed: report/declared_parts.h
  Fd reload_facts;  ///< sealed
  LauncherProcess launcher;
  Fd log;              ///< over which the launcher sends wire::LogPipe
  Fd state_directory;  ///< locked
  Fd own_group;        ///< locked; not valid: there is no control group
  Fd cellblockd;       ///< the program
  BoundSocket mcp;
  HttpSockets http;
  MetricsSocket metrics;
  AuditFiles audit;
  std::string notify_socket;  ///< the service manager's; empty: none
  ServiceOffer offer;
};

}  // namespace cellblock::daemon
