#include "policy/base/internet_address.h"

#include <arpa/inet.h>

namespace cellblock {

std::optional<InternetAddress> parse_ipv4(const std::string& text) {
  InternetAddress address = every_ipv4.address;
  if (::inet_pton(AF_INET, text.c_str(), &address.at(ipv4_offset)) != 1) return std::nullopt;
  return address;
}

std::optional<InternetAddress> parse_ipv6(const std::string& text) {
  InternetAddress address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) != 1) return std::nullopt;
  return address;
}

std::string text_of(const InternetAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (is_ipv4(address)) {
    ::inet_ntop(AF_INET, &address.at(ipv4_offset), text.data(), text.size());
  } else {
    ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  }
  return text.data();
}

}  // namespace cellblock
