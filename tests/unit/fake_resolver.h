#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "policy/egress/dns_message.h"
#include "supervisor/egress/flow.h"
#include "supervisor/egress/socket_io.h"
#include "supervisor/os/event_loop.h"

/// Sockets on the loopback network, and a resolver behind one of them.
namespace cellblock::egress {

inline constexpr InternetAddress loopback = {0, 0, 0,    0,    0,   0, 0, 0,
                                             0, 0, 0xff, 0xff, 127, 0, 0, 1};

inline sockaddr_in at(const InternetAddress& address, std::uint16_t port) {
  sockaddr_in made{.sin_family = AF_INET, .sin_port = htons(port)};
  std::memcpy(&made.sin_addr, &address[12], 4);
  return made;
}

/// Invalid if the port is taken. Port 0: one of the kernel's choice.
inline Fd try_bound(int type, const InternetAddress& address, std::uint16_t port) {
  Fd made(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_in to = at(address, port);
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return Fd();
  if (type == SOCK_STREAM && ::listen(made.get(), 16) != 0) return Fd();
  return made;
}

inline Fd bound(int type, const InternetAddress& address = loopback) {
  Fd made = try_bound(type, address, 0);
  EXPECT_TRUE(made.valid());
  return made;
}

inline std::uint16_t port_of(const Fd& socket) { return local_address(socket.get())->port; }

/// Answers A questions with the next of the addresses it was given for a name.
class FakeResolver {
 public:
  explicit FakeResolver(EventLoop& loop) : end_(loop, bound(SOCK_DGRAM)) {
    end_.watch.on_readable = [this] { answer(); };
    EXPECT_TRUE(end_.watch.want_read(true));
  }

  std::string text() const { return "127.0.0.1:" + std::to_string(port_of(end_.fd)); }
  std::map<std::string, std::vector<std::vector<InternetAddress>>> names;

 private:
  void answer() {
    std::array<char, 1500> buffer;
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const ssize_t count = ::recvfrom(end_.fd.get(), buffer.data(), buffer.size(), 0,
                                     reinterpret_cast<sockaddr*>(&peer), &size);
    if (count <= 0) return;
    const auto question = parse_question({buffer.data(), static_cast<std::size_t>(count)});
    if (!question) return;
    const std::string reply = reply_to(*question);
    ::sendto(end_.fd.get(), reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&peer),
             size);
  }

  std::string reply_to(const DnsQuestion& question) {
    const auto known = names.find(*question.name);
    if (known == names.end()) return dns_reply(question, DnsCode::name_error);
    if (question.type != type_a) return dns_reply(question, DnsCode::no_error);
    auto& answers = known->second;
    const auto addresses = answers.front();
    if (answers.size() > 1) answers.erase(answers.begin());
    std::string reply = dns_reply(question, DnsCode::no_error);
    reply[7] = static_cast<char>(addresses.size());
    for (const auto& address : addresses) {
      const std::string one = dns_reply(question, DnsCode::no_error, address);
      reply += one.substr(one.size() - 16);
    }
    return reply;
  }

  End end_;
};

}  // namespace cellblock::egress
