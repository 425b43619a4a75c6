#include "client/cli/learn/said_ports.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

namespace cellblock::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t longest_searched_line = 8192;
constexpr std::size_t most_ports = 4;

// As Node, Python, Go and Rust say it.
constexpr std::array connection_failures{"eacces"sv, "econnrefused"sv, "connection refused"sv,
                                         "permission denied"sv, "unreachable"sv};
constexpr std::array loopback_names{"127.0.0.1:"sv, "localhost:"sv, "[::1]:"sv, "::1:"sv};

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool tells_of_failure(std::string_view line) {
  return std::ranges::any_of(connection_failures,
                             [line](std::string_view word) { return line.contains(word); });
}

// Not the end of another address or name: "10.127.0.0.1", "fd00::1", "my-localhost".
bool begins_host(std::string_view line, std::size_t at) {
  constexpr std::string_view part_of_host = "abcdefghijklmnopqrstuvwxyz0123456789.:-_";
  return at == 0 || !part_of_host.contains(line[at - 1]);
}

std::optional<std::uint16_t> port_at(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || port == 0) return std::nullopt;
  return port;
}

void add_ports_after(std::string_view line, std::string_view name,
                     std::vector<std::uint16_t>& ports) {
  for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
    const auto port = port_at(line.substr(at + name.size()));
    if (!port || !begins_host(line, at) || ports.size() == most_ports) continue;
    if (std::ranges::find(ports, *port) == ports.end()) ports.push_back(*port);
  }
}

}  // namespace

std::vector<std::uint16_t> said_loopback_ports(std::string_view line) {
  const std::string searched = in_lower_case(line.substr(0, longest_searched_line));
  std::vector<std::uint16_t> ports;
  if (!tells_of_failure(searched)) return ports;
  for (const std::string_view name : loopback_names) add_ports_after(searched, name, ports);
  return ports;
}

}  // namespace cellblock::cli
