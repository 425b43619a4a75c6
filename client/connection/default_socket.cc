#include "client/connection/default_socket.h"

#include <cstdlib>

#include "policy/base/user_directory.h"

namespace cellblock::client {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string named_socket_path() { return environment("CELLBLOCK_SOCKET"); }

std::string system_socket_path() { return "/run/cellblock/cellblock.sock"; }

std::string user_socket_path() {
  const auto runtime = absolute_or_none(environment("XDG_RUNTIME_DIR"));
  return runtime.empty() ? std::string() : runtime + "/cellblock/cellblock.sock";
}

}  // namespace cellblock::client
