#include "supervisor/http/refused_tokens.h"

#include <fmt/format.h>

namespace cellblock::http {

std::vector<std::string> RefusedTokens::add(const std::string& address, gateway::Time now) {
  std::vector<std::string> lines = tick(now);
  if (attempts_.add(address)) {
    lines.push_back(fmt::format("refused an unknown bearer token from {}", address));
  }
  return lines;
}

std::vector<std::string> RefusedTokens::tick(gateway::Time now) {
  if (now - began_ < span) return {};
  began_ = now;
  std::vector<std::string> lines;
  const auto over = attempts_.end_span();
  for (const auto& [address, count] : over.left_out) {
    lines.push_back(fmt::format("refused {} more unknown bearer tokens from {}", count, address));
  }
  if (over.of_others > 0) {
    lines.push_back(
        fmt::format("refused {} unknown bearer tokens from other addresses", over.of_others));
  }
  return lines;
}

}  // namespace cellblock::http
