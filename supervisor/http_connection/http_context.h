#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/http_connection/request.h"

namespace cellblock::http {

/// On whose behalf an HTTP connection or request is: by what the supervisor knows it.
struct Caller {
  enum class Kind : std::uint8_t { token, peer } kind = Kind::token;
  std::uint32_t token = 0;   ///< index in HttpListen::tokens
  std::uint32_t peer = 0;    ///< the supervisor's handle of this very connection
  std::uint32_t uid = 0;     ///< peer: as the kernel said
  std::uint64_t rights = 0;  ///< peer: equal only for equal gid and groups
};

/// The caller without the connection: what a session is bound to.
struct CallerKey {
  Caller::Kind kind{};
  std::uint32_t number = 0;  ///< of the token, or uid
  std::uint64_t rights = 0;
  auto operator<=>(const CallerKey&) const = default;
};

inline CallerKey key_of(const Caller& caller) {
  if (caller.kind == Caller::Kind::token) return {caller.kind, caller.token, 0};
  return {caller.kind, caller.uid, caller.rights};
}

/// FailureCode::too_many, as JSON-RPC has it.
inline constexpr int too_many_code = -31006;
/// Before another try at what the machine or a peer had no room for.
inline constexpr std::chrono::milliseconds retry_pause{50};

/// One HTTP request that waits for its answer.
using ExchangeId = std::uint64_t;
/// One connection to a user's gateway: a session of the socket's protocol.
using BackendId = std::uint64_t;

/// What the machines of this folder have done for them. Nothing of it blocks, and nothing of it
/// calls back into them before it returns. An exchange that is gone swallows what is said to it.
class HttpContext {
 public:
  virtual ~HttpContext() = default;

  /// Lines may be sent at once; they wait until the connection is there.
  virtual BackendId open(const Caller& caller) = 0;
  /// Sends one line, in slices, newline included. False: too much is waiting there; nothing was
  /// sent.
  virtual bool send(BackendId backend, std::span<const std::string_view> slices) = 0;
  virtual void close(BackendId backend) = 0;

  virtual void reply(ExchangeId exchange, const Reply& reply) = 0;
  /// 200 and these headers; then bytes until end_stream().
  virtual void begin_stream(ExchangeId exchange, const std::vector<Header>& headers) = 0;
  virtual void stream(ExchangeId exchange, std::string_view bytes) = 0;
  virtual void end_stream(ExchangeId exchange) = 0;

  /// Visible ASCII that cannot be guessed; empty where the kernel gives no randomness.
  virtual std::string random_name() = 0;
};

}  // namespace cellblock::http
