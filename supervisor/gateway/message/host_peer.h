#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "supervisor/ipc/wire.h"

namespace cellblock::gateway {

/// Who is at the other end of a session, as the supervisor says.
struct Peer {
  std::uint64_t session = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;  ///< for display only
  std::vector<std::uint32_t> groups;
  wire::SessionVia via = wire::SessionVia::socket;
  std::string_view token;  ///< its name, with http_token; lives as long as the configuration
  /// Came through the door of administrators: uid is an administrator's, who is not this gateway's
  /// user but rootless (daemon/run/admin_sockets.h). Asks cellblock's own requests, and says no
  /// MCP.
  bool is_admin = false;
};

}  // namespace cellblock::gateway
