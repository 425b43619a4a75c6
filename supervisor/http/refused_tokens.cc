#include "supervisor/http/refused_tokens.h"

#include <fmt/format.h>

namespace cellblock::http {

std::string text_of(const RefusedToken& refused) {
  if (refused.address.empty()) {
    return fmt::format("refused {} unknown bearer tokens from other addresses", refused.requests);
  }
  if (!refused.is_sum) {
    return fmt::format("refused an unknown bearer token from {}", refused.address);
  }
  return fmt::format("refused {} more unknown bearer tokens from {}", refused.requests,
                     refused.address);
}

std::vector<RefusedToken> RefusedTokens::add(const std::string& address, gateway::Time now) {
  std::vector<RefusedToken> told = tick(now);
  if (attempts_.add(address)) told.push_back({.address = address});
  return told;
}

std::vector<RefusedToken> RefusedTokens::tick(gateway::Time now) {
  if (now - began_ < span) return {};
  began_ = now;
  std::vector<RefusedToken> told;
  const auto over = attempts_.end_span();
  told.reserve(over.left_out.size() + 1);
  for (const auto& [address, count] : over.left_out) told.push_back({address, count, true});
  if (over.of_others > 0) told.push_back({{}, over.of_others, true});
  return told;
}

}  // namespace cellblock::http
