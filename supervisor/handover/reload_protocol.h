#pragma once

#include <cstdint>
#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// The messages between the supervisor and `cellblockd --reload` (reload_client.h) over one stream
/// socket: an offer, a request, and an answer as text until the end of the stream.
namespace cellblock::daemon {

/// Facts about the running daemon for the process that reads the files.
struct ReloadFacts {
  std::string version;      ///< CELLBLOCK_VERSION: other versions encode otherwise
  std::string config_path;  ///< the --config of the daemon
  std::string socket;       ///< overrides the configured one; empty: no override
  std::string credentials;  ///< the service's credentials directory; empty: none
  RunMode mode = RunMode::system;
  std::uint32_t read_by = 0;  ///< the uid that has read the files: another may see other files
};

/// Returns a sealed memfd.
Result<Fd> seal(const ReloadFacts& facts);
/// EPERM: it is not sealed.
Result<ReloadFacts> read_reload_facts(int sealed);

struct ReloadMessage {
  Fd config;  ///< sealed: the configuration in use
  Fd facts;
};

struct ReloadRequest {
  Fd config;  ///< sealed: the new one, merged with the one in use
  Fd secrets;
  Fd declared;      ///< sealed: report/declared_parts.h
  Fd owner_mounts;  ///< owner_mounts.h; a socket without mounts: the launcher keeps its own
};

// None of these blocks.
SysResult<void> send_offer(int socket, const ReloadMessage& offer);
SysResult<ReloadMessage> receive_offer(int socket);
SysResult<void> send_request(int socket, const ReloadRequest& request);
SysResult<ReloadRequest> receive_request(int socket);

}  // namespace cellblock::daemon
