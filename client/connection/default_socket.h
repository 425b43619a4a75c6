#pragma once

#include <string>

namespace cellblock::client {

/// From CELLBLOCK_SOCKET; empty without it.
std::string named_socket_path();

std::string system_socket_path();

/// Empty without XDG_RUNTIME_DIR.
std::string user_socket_path();

}  // namespace cellblock::client
