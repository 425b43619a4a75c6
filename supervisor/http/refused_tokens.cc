#include "supervisor/http/refused_tokens.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <array>

namespace cellblock::http {

std::string address_text(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.ss_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.ss_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  }
  const bool is_known = bytes != nullptr &&
                        ::inet_ntop(address.ss_family, bytes, text.data(), text.size()) != nullptr;
  return is_known ? text.data() : "an unknown address";
}

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
