#include "cellblock/types.h"

#include <sys/stat.h>

#include "client/connection/unix_connect.h"

namespace cellblock::client {

namespace {

bool exists(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

}  // namespace

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::notice:
      return "notice";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::critical:
      return "critical";
    case LogLevel::alert:
      return "alert";
    case LogLevel::emergency:
      break;
  }
  return "emergency";
}

std::string default_socket_path() {
  if (auto named = named_socket_path(); !named.empty()) return named;
  auto own = user_socket_path();
  return !own.empty() && exists(own) ? own : system_socket_path();
}

}  // namespace cellblock::client
