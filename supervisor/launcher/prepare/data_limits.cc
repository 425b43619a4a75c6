#include "supervisor/launcher/prepare/data_limits.h"

#include <algorithm>

namespace cellblock::launcher::data_limits {
namespace {

constexpr std::uint64_t base = 1024 * mebibyte;
constexpr std::uint64_t messages = 16;

std::uint64_t greatest_line(const Config& config) {
  const LineLimits usual;
  std::uint64_t greatest = usual.from_server;
  for (const Server& server : config.servers) {
    const LineLimits& lines = server.lines;
    greatest = std::max({greatest, lines.to_host, lines.from_host, lines.from_server});
  }
  return greatest;
}

}  // namespace

std::uint64_t http(const Config& config) {
  constexpr std::uint64_t usual = 2048 * mebibyte;
  constexpr std::uint64_t messages_of_a_caller = 8;
  constexpr std::uint64_t callers = 8;
  return std::max(usual, callers * messages_of_a_caller * greatest_line(config));
}

std::uint64_t gateway(const Config& config) {
  return base + config.results.bytes_per_user + messages * greatest_line(config);
}

}  // namespace cellblock::launcher::data_limits
