#include "client/cli/ui/peer_uid.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "client/connection/fd.h"

namespace cellblock::cli::ui {
namespace {

constexpr std::size_t longest_table = 8U << 20;
constexpr std::size_t uid_column = 7;

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return columns;
    columns.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(columns.back().size());
  }
}

// As the kernel writes it: the address as a number of this machine's byte order.
std::string end_text(const sockaddr_in& end) {
  return fmt::format("{:08X}:{:04X}", end.sin_addr.s_addr, ntohs(end.sin_port));
}

std::optional<uid_t> uid_in(std::string_view digits) {
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), uid);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return uid;
}

// Empty where it is longer than any table that is looked through.
std::string tcp_table() {
  const client::OwnedFd file(::open("/proc/self/net/tcp", O_RDONLY | O_CLOEXEC));
  std::string table;
  std::array<char, 64U << 10> bytes;
  while (file.valid() && table.size() < longest_table) {
    const auto count = ::read(file.get(), bytes.data(), bytes.size());
    if (count <= 0) return count == 0 ? table : std::string();
    table.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return {};
}

// ---- asked for by itself ----

struct DiagQuestion {
  nlmsghdr header;
  inet_diag_req_v2 about;
};

DiagQuestion diag_question(const LoopbackPair& pair) {
  DiagQuestion question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.about.sdiag_family = AF_INET;
  question.about.sdiag_protocol = IPPROTO_TCP;
  auto& id = question.about.id;
  id.idiag_src[0] = pair.theirs.sin_addr.s_addr;
  id.idiag_sport = pair.theirs.sin_port;
  id.idiag_dst[0] = pair.ours.sin_addr.s_addr;
  id.idiag_dport = pair.ours.sin_port;
  std::ranges::fill(id.idiag_cookie, INET_DIAG_NOCOOKIE);
  return question;
}

std::optional<inet_diag_msg> diag_answer(std::span<const char> bytes) {
  nlmsghdr header{};
  inet_diag_msg answer{};
  if (bytes.size() < NLMSG_HDRLEN + sizeof answer) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  std::memcpy(&answer, bytes.data() + NLMSG_HDRLEN, sizeof answer);
  return answer;
}

// The peer's end of this connection. nullopt: the kernel has none, or no answer to such questions.
std::optional<inet_diag_msg> asked_about(const LoopbackPair& pair) {
  const client::OwnedFd kernel(::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const DiagQuestion question = diag_question(pair);
  if (!kernel.valid() || ::send(kernel.get(), &question, sizeof question, 0) < 0) {
    return std::nullopt;
  }
  std::array<char, 4096> bytes{};
  const auto count = ::recv(kernel.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count <= 0) return std::nullopt;
  return diag_answer(std::span(bytes).first(static_cast<std::size_t>(count)));
}

// The table has the sockets of all users, who could make it so long that it keeps the page's own
// user out: it is read only where the kernel does not even know our end.
std::optional<uid_t> owner_of(const LoopbackPair& pair) {
  if (const auto peer = asked_about(pair)) {
    return peer->idiag_state == TCP_ESTABLISHED ? std::optional(peer->idiag_uid) : std::nullopt;
  }
  if (asked_about({.theirs = pair.ours, .ours = pair.theirs})) return std::nullopt;
  return owner_in(tcp_table(), pair);
}

bool is_loopback(const sockaddr_in& end) {
  return end.sin_family == AF_INET &&
         ntohl(end.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

std::optional<uid_t> tcp_peer_uid(int socket) {
  sockaddr_in theirs{};
  sockaddr_in ours{};
  socklen_t theirs_size = sizeof theirs;
  socklen_t ours_size = sizeof ours;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &theirs_size) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &ours_size) != 0) {
    return std::nullopt;
  }
  if (!is_loopback(theirs) || !is_loopback(ours)) return std::nullopt;
  return owner_of({.theirs = theirs, .ours = ours});
}

}  // namespace

// A peer that has closed its end has no owner there any more, but 0: the state is asked as well.
std::optional<uid_t> owner_in(std::string_view table, const LoopbackPair& pair) {
  constexpr std::string_view established = "01";
  const auto theirs = end_text(pair.theirs);
  const auto ours = end_text(pair.ours);
  while (!table.empty()) {
    const auto line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(table.size(), line.size() + 1));
    const auto columns = columns_of(line);
    if (columns.size() > uid_column && columns[1] == theirs && columns[2] == ours &&
        columns[3] == established) {
      return uid_in(columns[uid_column]);
    }
  }
  return std::nullopt;
}

std::optional<uid_t> peer_uid(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  int family = 0;
  socklen_t family_size = sizeof family;
  if (::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &family_size) != 0) return std::nullopt;
  if (family == AF_INET) return tcp_peer_uid(socket);
  const bool is_known =
      family == AF_UNIX && ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return is_known ? std::optional(peer.uid) : std::nullopt;
}

}  // namespace cellblock::cli::ui
