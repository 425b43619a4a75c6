#include "client/cli/scan/listening_servers.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>
#include <optional>
#include <sstream>

#include "client/cli/import/read/bounded_file.h"
#include "client/connection/fd.h"
#include "policy/mcp/protocol_words.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_table = 8U << 20;
constexpr std::size_t most_asked = 128;
constexpr std::size_t most_answer = 64U << 10;
constexpr std::chrono::milliseconds answer_patience{1'000};

std::vector<std::string> columns_in(const std::string& line) {
  std::istringstream columns(line);
  return {std::istream_iterator<std::string>(columns), {}};
}

template <class Number>
std::optional<Number> number_in(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

// As the kernel prints them: words of four bytes, the last byte first.
constexpr std::array<std::string_view, 2> loopback_addresses = {"0100007F",
                                                                "00000000000000000000000001000000"};

bool is_loopback(std::string_view address) {
  return std::ranges::find(loopback_addresses, address) != loopback_addresses.end() ||
         (address.size() == 8 && address.ends_with("7F"));
}

bool is_every(std::string_view address) {
  return std::ranges::all_of(address, [](char c) { return c == '0'; });
}

std::optional<Listener> listener_in(const std::string& line, bool is_ipv6) {
  constexpr std::string_view listening = "0A";
  const auto columns = columns_in(line);
  if (columns.size() < 8 || columns[3] != listening) return std::nullopt;
  const std::string_view local = columns[1];
  const std::size_t colon = local.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view address = local.substr(0, colon);
  const auto port = number_in<std::uint16_t>(local.substr(colon + 1), 16);
  const auto uid = number_in<unsigned>(columns[7], 10);
  if (!port || !uid || (!is_loopback(address) && !is_every(address))) return std::nullopt;
  return Listener{
      .port = *port, .uid = *uid, .is_ipv6 = is_ipv6, .is_loopback = is_loopback(address)};
}

}  // namespace

std::vector<Listener> listeners_in(const std::string& proc_net_tcp, bool is_ipv6) {
  std::vector<Listener> listeners;
  std::istringstream table(proc_net_tcp);
  for (std::string line; std::getline(table, line);) {
    if (const auto listener = listener_in(line, is_ipv6)) listeners.push_back(*listener);
  }
  return listeners;
}

std::vector<Listener> listeners_here() {
  std::vector<Listener> all;
  for (const bool is_ipv6 : {false, true}) {
    const auto table = bounded_file(is_ipv6 ? "/proc/net/tcp6" : "/proc/net/tcp", most_table);
    if (!table) continue;
    for (const Listener& one : listeners_in(*table, is_ipv6)) {
      if (std::ranges::find(all, one.port, &Listener::port) == all.end()) all.push_back(one);
    }
  }
  return all;
}

bool is_mcp_answer(std::string_view answer) {
  if (!answer.starts_with("HTTP/1.")) return false;
  const bool is_result =
      answer.contains("\"protocolVersion\"") && answer.contains("\"serverInfo\"");
  return answer.contains("\"jsonrpc\"") && is_result;
}

namespace {

client::OwnedFd connected_to(const Listener& listener) {
  client::OwnedFd socket(
      ::socket(listener.is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return socket;
  const timeval limit{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int failed = -1;
  if (listener.is_ipv6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(listener.port);
    address.sin6_addr = in6addr_loopback;
    failed = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(listener.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    failed = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  return failed == 0 ? std::move(socket) : client::OwnedFd();
}

std::string initialize_request(std::uint16_t port) {
  const std::string body = fmt::format(
      R"({{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{}",)"
      R"("capabilities":{{}},"clientInfo":{{"name":"cellblock-scan","version":"1"}}}}}})",
      mcp::newest_legacy);
  return fmt::format(
      "POST /mcp HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n"
      "Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      port, body.size(), body);
}

// An event stream may stay open: what has come by then is the answer.
std::string answer_of(int socket) {
  const auto until = std::chrono::steady_clock::now() + answer_patience;
  std::string answer;
  std::array<char, 4096> bytes{};
  while (answer.size() < most_answer && !is_mcp_answer(answer)) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    pollfd readable{.fd = socket, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&readable, 1, static_cast<int>(left.count())) != 1) break;
    const ssize_t count = ::read(socket, bytes.data(), bytes.size());
    if (count <= 0) break;
    answer.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return answer;
}

bool answers(const Listener& listener) {
  const client::OwnedFd socket = connected_to(listener);
  if (!socket.valid()) return false;
  const std::string request = initialize_request(listener.port);
  const ssize_t sent = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(request.size()) && is_mcp_answer(answer_of(socket.get()));
}

std::string address_text(const Listener& listener) {
  if (!listener.is_loopback) return fmt::format("port {} of every address", listener.port);
  return fmt::format("{}:{}", listener.is_ipv6 ? "[::1]" : "127.0.0.1", listener.port);
}

}  // namespace

std::vector<ScanFinding> listening_servers(const std::vector<Listener>& listeners,
                                           std::string (*user_of)(unsigned uid)) {
  std::vector<ScanFinding> found;
  const std::size_t asked = std::min(listeners.size(), most_asked);
  for (std::size_t i = 0; i < asked; ++i) {
    if (!answers(listeners[i])) continue;
    found.push_back({.kind = ScanFinding::Kind::listening,
                     .user = user_of(listeners[i].uid),
                     .host = {},
                     .name = fmt::format("port {}", listeners[i].port),
                     .where = address_text(listeners[i]),
                     .command = "answers initialize on /mcp",
                     .remedy = {}});
  }
  return found;
}

}  // namespace cellblock::cli
