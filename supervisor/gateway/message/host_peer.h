#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "supervisor/gateway/io/line_progress.h"
#include "supervisor/ipc/wire.h"
#include "supervisor/os/clock.h"

/// The host at the other end of a session: who it is, and how long it is waited for.
namespace cellblock::gateway {

/// The peer of a session, as the supervisor reports it.
struct Peer {
  std::uint64_t session = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int32_t pid = 0;  ///< for display only
  std::vector<std::uint32_t> groups;
  wire::SessionVia via = wire::SessionVia::socket;
  std::string_view token;         ///< its name, with http_token; lives as long as the configuration
  std::uint32_t token_index = 0;  ///< with http_token: in HttpListen::tokens
  /// Came through an administrators' socket: uid is an administrator's, who is not this gateway's
  /// user but rootless (daemon/sockets/admin_sockets.h). Asks cellblock's own requests, and says no
  /// MCP.
  bool is_admin = false;
};

/// How long a host is waited for: for its first message, and for the rest of a line that it has
/// begun; and how much of a line that is too long is passed over. Between two messages it may be
/// silent for as long as it likes. Pure. See docs/decisions/0048.
class HostPatience {
 public:
  struct Bounds {
    Milliseconds first_message{};  ///< since the session was opened
    Milliseconds line{};           ///< since its first byte, or since it is read again
    std::size_t most_skipped = 0;  ///< bytes of a line beyond its limit
  };
  enum class Verdict : std::uint8_t { waits, silent, slow_line, endless_line };

  HostPatience(const Bounds& bounds, Time opened)
      : bounds_(bounds), first_due_(opened + bounds.first_message) {}

  /// What the host has sent. `is_held`: nothing is read of it, so it cannot go on.
  void look(const LineProgress& seen, bool is_held, Time now);
  Verdict verdict(Time now) const;
  /// When the verdict may be another one; none: not before something is sent.
  std::optional<Time> due() const;

 private:
  Bounds bounds_;
  std::optional<Time> first_due_;  ///< none: it has said something
  std::optional<Time> line_due_;   ///< none: no line has begun
  std::uint64_t lines_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace cellblock::gateway
