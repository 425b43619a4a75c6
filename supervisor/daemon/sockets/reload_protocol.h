#pragma once

#include <cstdint>
#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"
#include "supervisor/os/sys.h"

/// What cellblockd and the sender of another configuration (reload_client.h) exchange over one
/// stream socket: an offer, a request, and an answer as text until the end of the stream.
namespace cellblock::daemon {

/// What the reader of the files has to know of the running daemon.
struct ReloadFacts {
  std::string version;      ///< CELLBLOCK_VERSION: another one encodes otherwise
  std::string config_path;  ///< that the daemon was started with
  std::string socket;       ///< instead of the configured one; empty: that one
  std::string credentials;  ///< the directory of the service's; empty: none
  RunMode mode = RunMode::system;
  std::uint32_t read_by = 0;  ///< the uid that has read the files: another one may see others
};

/// A sealed memfd of it.
Result<Fd> seal(const ReloadFacts& facts);
/// EPERM unless it is sealed.
Result<ReloadFacts> read_reload_facts(int sealed);

struct ReloadMessage {
  Fd config;  ///< sealed: the one in use
  Fd facts;
};

struct ReloadRequest {
  Fd config;  ///< sealed: the one that was merged with it
  Fd secrets;
  Fd declared;      ///< sealed: report/declared_parts.h
  Fd owner_mounts;  ///< owner_mounts.h; a socket without any: the launcher keeps those it has
};

// Neither sends blocks, and each receives what is there.
SysResult<void> send_offer(int socket, const ReloadMessage& offer);
SysResult<ReloadMessage> receive_offer(int socket);
SysResult<void> send_request(int socket, const ReloadRequest& request);
SysResult<ReloadRequest> receive_request(int socket);

}  // namespace cellblock::daemon
