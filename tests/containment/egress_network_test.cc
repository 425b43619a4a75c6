// What the network of a server with egress answers, before any helper serves it.

#include "supervisor/launcher/prepare/egress_network.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>

#include "supervisor/launcher/child/clone_child.h"
#include "supervisor/launcher/prepare/network_pool.h"
#include "tests/containment/launcher_process.h"

namespace cellblock::containment {
namespace {

using launcher::EgressSockets;

union Address {
  sockaddr any;
  sockaddr_in ipv4;
  sockaddr_in6 ipv6;
  sockaddr_storage room;
};

Address address_of(const std::string& text, std::uint16_t port) {
  Address address{};
  if (inet_pton(AF_INET, text.c_str(), &address.ipv4.sin_addr) == 1) {
    address.ipv4.sin_family = AF_INET;
    address.ipv4.sin_port = htons(port);
  } else if (inet_pton(AF_INET6, text.c_str(), &address.ipv6.sin6_addr) == 1) {
    address.ipv6.sin6_family = AF_INET6;
    address.ipv6.sin6_port = htons(port);
  }
  return address;
}

std::string refused() { return std::string("refused ") + strerrorname_np(errno); }

std::string text_of(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.any.sa_family == AF_INET) {
    inet_ntop(AF_INET, &address.ipv4.sin_addr, text.data(), text.size());
  } else {
    inet_ntop(AF_INET6, &address.ipv6.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

/// The listener that has a connection waiting, and the address that the connecting one meant.
std::string accepted(const EgressSockets& sockets) {
  for (std::size_t i = 0; i < sockets.sockets.size(); ++i) {
    if (sockets.start.sockets[i].kind == wire::EgressSocketKind::dns_udp) continue;
    const Fd connection(accept(sockets.sockets[i].get(), nullptr, nullptr));
    if (!connection.valid()) continue;
    Address target{};
    socklen_t size = sizeof target;
    getsockname(connection.get(), &target.any, &size);
    return "socket " + std::to_string(i) + " for " + text_of(target);
  }
  return "nobody";
}

std::string connect_to(const EgressSockets& sockets, const std::string& address,
                       std::uint16_t port) {
  const Address target = address_of(address, port);
  const Fd client(socket(target.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(client.get(), &target.any, sizeof target) < 0) return refused();
  return accepted(sockets);
}

std::string ask(const EgressSockets& sockets, const std::string& address, std::uint16_t port) {
  const Address target = address_of(address, port);
  const Fd client(socket(target.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (connect(client.get(), &target.any, sizeof target) < 0) return refused();
  if (send(client.get(), "?", 1, 0) < 0) return refused();
  char byte = 0;
  if (recv(sockets.sockets[0].get(), &byte, 1, 0) == 1) return "asked";
  return recv(client.get(), &byte, 1, MSG_DONTWAIT) < 0 ? refused() : "answered";
}

std::string take(const std::string& address, std::uint16_t port) {
  const Address wanted = address_of(address, port);
  const Fd thief(socket(wanted.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(thief.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(thief.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  return bind(thief.get(), &wanted.any, sizeof wanted) < 0 ? refused() : "taken";
}

EgressRule range(const std::string& address, std::uint8_t bits, std::uint16_t port) {
  const Address words = address_of(address, port);
  EgressRule rule{.target = EgressTarget::range, .prefix = bits, .port = port};
  if (words.any.sa_family == AF_INET) {
    rule.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    std::memcpy(&rule.address[12], &words.ipv4.sin_addr, 4);
    rule.prefix = static_cast<std::uint8_t>(96 + bits);
  } else {
    std::memcpy(rule.address.data(), &words.ipv6.sin6_addr, 16);
  }
  return rule;
}

const EgressRule web = {.host = "api.example.org"};

using Attempt = std::function<std::string(const EgressSockets& sockets)>;

std::string attempt_here(const Egress& egress, const Attempt& attempt) {
  const auto network = launcher::make_network();
  if (!network) return network.error().text();
  const auto sockets = launcher::prepare_egress(network->get(), 0, egress);
  if (!sockets) return sockets.error().text();
  std::string answer;
  const auto tried = launcher::run_in_namespace([&]() -> SysResult<void> {
    if (setns(network->get(), CLONE_NEWNET) < 0) return sys_fail("setns");
    answer = attempt(*sockets);
    return {};
  });
  return tried ? answer : tried.error().text();
}

/// In a network prepared for that list, by somebody in it.
std::string in_network_of(const Egress& egress, const Attempt& attempt) {
  const auto result = run_as_launcher(
      [&](int output) { return write_all(output, attempt_here(egress, attempt)) ? 0 : 1; });
  return result.end == "exit 0" ? result.output : result.end + ": " + result.output;
}

std::string connecting(const Egress& egress, const std::string& address, std::uint16_t port) {
  return in_network_of(
      egress, [&](const EgressSockets& sockets) { return connect_to(sockets, address, port); });
}

std::string asking(const std::string& address, std::uint16_t port) {
  return in_network_of({.allow = {web}},
                       [&](const EgressSockets& sockets) { return ask(sockets, address, port); });
}

TEST(EgressNetwork, AnswersForMadeUpAddressesOnAnAllowedPort) {
  EXPECT_EQ(connecting({.allow = {web}}, "198.18.7.9", 443), "socket 2 for ::ffff:198.18.7.9");
  EXPECT_EQ(connecting({.allow = {web}}, "198.19.255.254", 443),
            "socket 2 for ::ffff:198.19.255.254");
  EXPECT_EQ(connecting({.allow = {web}}, "fd53:6362::7:9", 443), "socket 2 for fd53:6362::7:9");
  EXPECT_EQ(connecting({.allow = {web}}, "::ffff:198.18.7.9", 443),
            "socket 2 for ::ffff:198.18.7.9");
}

TEST(EgressNetwork, RefusesAPortThatNoRuleNames) {
  EXPECT_EQ(connecting({.allow = {web}}, "198.18.7.9", 80), "refused ECONNREFUSED");
  EXPECT_EQ(connecting({.allow = {web}}, "127.0.0.1", 80), "refused ECONNREFUSED");
}

TEST(EgressNetwork, HasNoRouteToAnAddressThatNoRuleNames) {
  for (const char* address :
       {"93.184.216.34", "169.254.169.254", "10.0.0.1", "2001:db8::1", "::ffff:93.184.216.34"}) {
    EXPECT_EQ(connecting({.allow = {web}}, address, 443), "refused ENETUNREACH") << address;
  }
}

TEST(EgressNetwork, AnswersForTheAddressesOfARange) {
  const Egress egress = {.allow = {web, range("10.20.0.0", 16, 5432), range("fd00:1::", 32, 443)}};
  EXPECT_EQ(connecting(egress, "10.20.3.4", 5432), "socket 3 for ::ffff:10.20.3.4");
  EXPECT_EQ(connecting(egress, "fd00:1:2::3", 443), "socket 2 for fd00:1:2::3");
  EXPECT_EQ(connecting(egress, "10.21.3.4", 5432), "refused ENETUNREACH");
  EXPECT_EQ(connecting(egress, "fd00:2::3", 443), "refused ENETUNREACH");
}

TEST(EgressNetwork, AnswersForEveryAddressWhereARuleNamesThemAll) {
  const Egress egress = {.allow = {range("0.0.0.0", 0, 443), range("::", 0, 443)}};
  EXPECT_EQ(connecting(egress, "93.184.216.34", 443), "socket 2 for ::ffff:93.184.216.34");
  EXPECT_EQ(connecting(egress, "2001:db8::1", 443), "socket 2 for 2001:db8::1");
}

TEST(EgressNetwork, TakesARangeWhoseAddressHasBitsBehindItsPrefix) {
  EXPECT_EQ(connecting({.allow = {range("10.20.30.40", 8, 80)}}, "10.1.2.3", 80),
            "socket 2 for ::ffff:10.1.2.3");
}

TEST(EgressNetwork, TakesTheSameRangeTwiceAndOneThatIsLocalAnyway) {
  const Egress egress = {
      .allow = {range("10.0.0.0", 8, 80), range("10.0.0.0", 8, 81), range("127.0.0.0", 8, 80)}};
  EXPECT_EQ(connecting(egress, "10.1.2.3", 81), "socket 3 for ::ffff:10.1.2.3");
  EXPECT_EQ(connecting(egress, "127.0.0.1", 80), "socket 2 for ::ffff:127.0.0.1");
}

TEST(EgressNetwork, OffersTheProxyOnTheCellsOwnLoopbackOnly) {
  const Egress egress = {.allow = {web}, .proxy_port = 3128};
  EXPECT_EQ(connecting(egress, "127.0.0.1", 3128), "socket 3 for 127.0.0.1");
  EXPECT_EQ(connecting(egress, "198.18.7.9", 3128), "refused ECONNREFUSED");
}

TEST(EgressNetwork, HasAResolverAndNoOtherUdp) {
  EXPECT_EQ(asking("198.18.0.1", 53), "asked");
  EXPECT_EQ(connecting({.allow = {web}}, "198.18.0.1", 53), "socket 1 for 198.18.0.1");
  EXPECT_EQ(asking("198.18.0.1", 123), "refused ECONNREFUSED");
  EXPECT_EQ(asking("198.18.0.9", 443), "refused ECONNREFUSED");
  EXPECT_EQ(asking("1.1.1.1", 53), "refused ENETUNREACH");
}

TEST(EgressNetwork, LeavesNobodyAnAddressOfTheHelpers) {
  const Egress egress = {.allow = {web}, .proxy_port = 3128};
  const auto taking = [&](const std::string& address, std::uint16_t port) {
    return in_network_of(egress, [&](const EgressSockets&) { return take(address, port); });
  };
  EXPECT_EQ(taking("198.18.7.9", 443), "refused EADDRINUSE");
  EXPECT_EQ(taking("127.0.0.1", 3128), "refused EADDRINUSE");
  EXPECT_EQ(taking("198.18.0.1", 53), "refused EADDRINUSE");
  EXPECT_EQ(taking("0.0.0.0", 53), "refused EADDRINUSE");
  EXPECT_EQ(taking("127.0.0.1", 8080), "taken");
}

TEST(EgressNetwork, IsRefusedWithMorePortsThanAHelperCanBeHanded) {
  Egress egress;
  for (std::uint16_t port = 1000; port < 1055; ++port) egress.allow.push_back({.port = port});
  EXPECT_EQ(connecting(egress, "198.18.7.9", 1000), "egress: Argument list too long");
  egress.allow.pop_back();
  EXPECT_EQ(connecting(egress, "198.18.7.9", 1053), "socket 55 for ::ffff:198.18.7.9");
}

}  // namespace
}  // namespace cellblock::containment
