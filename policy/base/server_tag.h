#pragma once

#include <string>
#include <string_view>

namespace cellblock {

/// How lines of a log that are about one server begin: "[MCP:stdio:git]".
inline std::string server_tag(std::string_view server) {
  return "[MCP:stdio:" + std::string(server) + "]";
}

}  // namespace cellblock
