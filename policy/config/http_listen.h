#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellblock {

/// Who a bearer token stands for. The token itself is in no configuration: its digest is.
struct HttpToken {
  std::array<std::uint8_t, 32> sha256{};
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  ///< supplementary
  std::string name;                   ///< as declared, for logs: no secret
  bool operator==(const HttpToken&) const = default;
};

/// MCP's Streamable HTTP, for hosts that cannot start a process. Off unless declared.
struct HttpListen {
  std::string address;  ///< a loopback address, or empty
  std::uint16_t port = 0;
  std::string socket;         ///< absolute path of a Unix socket, or empty
  std::uint32_t mode = 0660;  ///< of that socket
  std::optional<std::uint32_t> group;
  std::vector<HttpToken> tokens;
  std::vector<std::string> origins;  ///< allowed besides those of the loopback host itself
  std::vector<std::string> hosts;    ///< allowed in `Host` besides the loopback names
  std::uint32_t max_connections = 256;
  std::uint32_t max_sessions = 64;  ///< legacy sessions at one time, of one identity
  std::chrono::milliseconds session_idle{30 * 60'000};  ///< without a request, then it is ended
  bool operator==(const HttpListen&) const = default;
};

}  // namespace cellblock
