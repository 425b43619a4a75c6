#include "client/cli/add/browser_return.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "client/cli/import/remote/remote_address.h"
#include "policy/base/trimmed.h"

namespace cellblock::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes longest_wait_for_person{10};
constexpr std::chrono::seconds longest_request{2};
constexpr std::size_t most_head = 8U << 10;
constexpr std::size_t most_url = 8U << 10;
constexpr std::uint16_t least_port = 1024;

bool is_graphic(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return byte > ' ' && byte < '\x7f'; });
}

// The value of a query's member, escaped as it stands there.
std::string member_of(std::string_view query, std::string_view name) {
  for (std::size_t at = 0; at < query.size();) {
    const auto end = std::min(query.find('&', at), query.size());
    const auto member = query.substr(at, end - at);
    if (member.starts_with(name) && member.substr(name.size()).starts_with('=')) {
      return std::string(member.substr(name.size() + 1));
    }
    at = end + 1;
  }
  return {};
}

bool is_answer(std::string_view query, const ReturnPlace& place) {
  const bool is_ours = !place.state.empty() && member_of(query, "state") == place.state;
  const bool says = !member_of(query, "code").empty() || !member_of(query, "error").empty();
  return is_ours && says && is_graphic(query) && query.size() <= most_url;
}

std::string answer_of(std::string_view target, const ReturnPlace& place) {
  const auto mark = target.find('?');
  if (mark == std::string_view::npos || target.substr(0, mark) != place.path) return {};
  const auto query = target.substr(mark + 1, target.find('#') - mark - 1);
  return is_answer(query, place) ? fmt::format("{}?{}", place.path, query) : std::string();
}

// ---- the port ----

// SO_REUSEADDR is for connections of an earlier authorization that the kernel still remembers: once
// a socket listens, no other binds that port, whatever options it has. SO_REUSEPORT would let one.
bool takes_port(int socket, const sockaddr* address, socklen_t size) {
  const int yes = 1;
  return ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
         ::bind(socket, address, size) == 0 && ::listen(socket, 16) == 0;
}

client::OwnedFd stream_socket(int family) {
  return client::OwnedFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Zero: it listens.
int listen_on_ipv4(std::uint16_t port, client::OwnedFd& socket) {
  socket = stream_socket(AF_INET);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool listens =
      socket.valid() &&
      takes_port(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return listens ? 0 : errno;
}

// Where there is no ::1, nobody else is there either.
int listen_on_ipv6(std::uint16_t port, client::OwnedFd& socket) {
  auto opened = stream_socket(AF_INET6);
  if (!opened.valid() && errno == EAFNOSUPPORT) return 0;
  const int yes = 1;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  address.sin6_addr = in6addr_loopback;
  const bool listens =
      opened.valid() &&
      ::setsockopt(opened.get(), IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) == 0 &&
      takes_port(opened.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (!listens) return errno == EADDRNOTAVAIL ? 0 : errno;
  socket = std::move(opened);
  return 0;
}

std::unexpected<Error> port_is_taken(std::string_view address, std::uint16_t port, int error) {
  return fail(fmt::format(
      "cannot listen on {}:{}, to which the browser comes back ({}): another program there would "
      "get the authorization; end it (ss -ltnp shows it), or give the server another port, "
      "cellblock add NAME -- ADDRESS PORT",
      address, port, std::generic_category().message(error)));
}

int milliseconds_until(Clock::time_point until) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

// Until its empty line; whoever is slower than that is no browser that waits for an answer.
std::string head_from(int connection) {
  std::string head;
  std::array<char, 2048> bytes{};
  const auto until = Clock::now() + longest_request;
  while (head.size() < most_head && head.find("\r\n\r\n") == std::string::npos) {
    pollfd source{connection, POLLIN, 0};
    if (::poll(&source, 1, milliseconds_until(until)) <= 0) break;
    const auto count = ::read(connection, bytes.data(), bytes.size());
    if (count <= 0) break;
    head.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return head;
}

void answer_browser(int connection, bool is_answered) {
  const std::string_view body = is_answered
                                    ? "You can close this window, and go back to cellblock.\n"
                                    : "This is not what cellblock waits for.\n";
  const auto text = fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
      "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{}",
      is_answered ? "200 OK" : "404 Not Found", body.size(), body);
  static_cast<void>(::send(connection, text.data(), text.size(), MSG_NOSIGNAL));
}

std::string answer_at_port(const client::OwnedFd& listening, const ReturnPlace& place) {
  const client::OwnedFd connection(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.valid()) return {};
  auto answer = answer_in_request(head_from(connection.get()), place);
  answer_browser(connection.get(), !answer.empty());
  return answer;
}

std::string answer_at_terminal(const ReturnPlace& place) {
  std::array<char, 4096> line{};
  const auto count = ::read(STDIN_FILENO, line.data(), line.size());
  if (count <= 0) return {};
  auto answer =
      answer_in_address(std::string_view(line.data(), static_cast<std::size_t>(count)), place);
  if (answer.empty()) {
    fmt::print(stderr, "cellblock: that is not the address to which the browser was sent back\n");
  }
  return answer;
}

}  // namespace

Result<AuthorizationPage> authorization_page(const std::string& url, const ReturnPlace& back) {
  if (!is_address(url) || url.size() > most_url || !is_graphic(url)) {
    return fail("the server sends people to what is no address of a page");
  }
  if (back.port < least_port || !back.path.starts_with('/') || !is_graphic(back.path)) {
    return fail("the server does not say where people come back to");
  }
  const auto mark = std::min(url.find('?'), url.size() - 1);
  const auto query = std::string_view(url).substr(mark + 1);
  AuthorizationPage page{.url = url, .back = back};
  page.back.state = member_of(query, "state");
  const bool has_challenge = !member_of(query, "code_challenge").empty() &&
                             member_of(query, "code_challenge_method") == "S256";
  if (page.back.state.empty() || !has_challenge) {
    return fail(
        "the page to which the server sends people has no state or no code_challenge (S256): "
        "whoever sees what the browser brings back could use it");
  }
  return page;
}

std::string answer_in_request(std::string_view head, const ReturnPlace& place) {
  const auto line = head.substr(0, head.find("\r\n"));
  constexpr std::string_view method = "GET ";
  const auto end = line.rfind(" HTTP/1.");
  if (!line.starts_with(method) || end == std::string_view::npos || end < method.size()) return {};
  return answer_of(line.substr(method.size(), end - method.size()), place);
}

std::string answer_in_address(std::string_view text, const ReturnPlace& place) {
  text = trimmed(text);
  const auto at = text.find(place.path + "?");
  if (!is_address(text) || at == std::string_view::npos) return {};
  return answer_of(text.substr(at), place);
}

Result<ReturnListener> listen_for_browser(std::uint16_t port) {
  ReturnListener listener;
  if (const int error = listen_on_ipv4(port, listener.ipv4); error != 0) {
    return port_is_taken("127.0.0.1", port, error);
  }
  if (const int error = listen_on_ipv6(port, listener.ipv6); error != 0) {
    return port_is_taken("[::1]", port, error);
  }
  return listener;
}

Result<std::string> browser_return(const ReturnListener& listener, const ReturnPlace& place,
                                   const Interruption& interruption) {
  bool has_terminal = ::isatty(STDIN_FILENO) == 1;
  const auto until = Clock::now() + longest_wait_for_person;
  while (true) {
    std::array<pollfd, 4> sources{pollfd{interruption.descriptor(), POLLIN, 0},
                                  pollfd{has_terminal ? STDIN_FILENO : -1, POLLIN, 0},
                                  pollfd{listener.ipv4.get(), POLLIN, 0},
                                  pollfd{listener.ipv6.get(), POLLIN, 0}};
    const int ready = ::poll(sources.data(), sources.size(), milliseconds_until(until));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return fail("nobody came back from the browser within 10 minutes");
    if (sources[0].revents != 0) return fail("interrupted: nothing was changed");
    std::string answer;
    if (sources[2].revents != 0) answer = answer_at_port(listener.ipv4, place);
    if (answer.empty() && sources[3].revents != 0) answer = answer_at_port(listener.ipv6, place);
    if (answer.empty() && (sources[1].revents & POLLIN) != 0) answer = answer_at_terminal(place);
    if ((sources[1].revents & (POLLHUP | POLLERR)) != 0) has_terminal = false;
    if (!answer.empty()) return answer;
  }
}

}  // namespace cellblock::cli
