#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "policy/config_check/value_check.h"

/// A Unix socket's own rules.
namespace cellblock {

/// What a socket's mode may be; `fallback` where nothing good is written.
std::uint32_t check_socket_mode(const Scope& scope, const Maybe<std::string>& text,
                                std::uint32_t fallback);

/// Complains about a path that sockaddr_un has no room for.
void check_socket_length(const Scope& scope, std::string_view key, Place at,
                         const std::string& path);

}  // namespace cellblock
