#include "policy/config_check/socket_check.h"

#include <fmt/format.h>

#include "policy/base/units.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_socket_path = 107;  // sockaddr_un.sun_path, with its NUL
constexpr std::uint32_t owner_bits = 0600;
constexpr std::uint32_t socket_bits = 0666;

}  // namespace

std::uint32_t check_socket_mode(const Scope& scope, const Maybe<std::string>& text,
                                std::uint32_t fallback) {
  if (!text) return fallback;
  const auto mode = parse_mode(text->value);
  if (!mode) {
    scope.error(text->at, "mode", mode.error().text);
    return fallback;
  }
  if ((*mode & owner_bits) != owner_bits || (*mode & ~socket_bits) != 0) {
    scope.error(text->at, "mode",
                fmt::format("\"{}\" is no mode for a socket; allowed: \"0600\", \"0660\", \"0666\"",
                            text->value));
  }
  return *mode;
}

void check_socket_length(const Scope& scope, std::string_view key, Place at,
                         const std::string& path) {
  if (!path.empty() && path != "/" && path.size() <= longest_socket_path) return;
  scope.error(at, key,
              fmt::format("\"{}\" has {} bytes; allowed: the path of a socket of at most {}", path,
                          path.size(), longest_socket_path));
}

}  // namespace cellblock
