#pragma once

#include <compare>
#include <cstdint>

namespace cellblock::http {

/// On whose behalf an HTTP connection or request is: by what the supervisor knows it.
struct Caller {
  enum class Kind : std::uint8_t { token, peer } kind = Kind::token;
  std::uint32_t token = 0;   ///< index in HttpListen::tokens
  std::uint32_t peer = 0;    ///< the supervisor's handle of this very connection
  std::uint32_t uid = 0;     ///< peer: as the kernel said
  std::uint64_t rights = 0;  ///< peer: equal only for equal gid and groups
};

/// Who it is, without the connection: what a session is bound to.
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

}  // namespace cellblock::http
