#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/egress/helper.h"
#include "tests/unit/egress_hello.h"
#include "tests/unit/egress_question.h"
#include "tests/unit/fake_resolver.h"

namespace cellblock::egress {
namespace {

using namespace std::literals;
using wire::EgressEvent;
using wire::EgressKind;
using wire::EgressReason;
using wire::EgressSocketKind;

// 127.18.0.0/16 stands for the synthetic addresses: of the loopback network every address is local
// without routes, so the helper can be tested in this process's own network.
constexpr InternetAddress synthetic = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 18, 0, 0};
constexpr InternetAddress elsewhere = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 9};
constexpr InternetAddress somewhere_public = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 9, 9, 9, 9};
constexpr InternetAddress first_name = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 18, 0, 2};

/// What a client connects to is what is dialled: the same port, of other addresses.
struct OnePort {
  Fd direct;
  Fd upstream;
  Fd stray;
};

OnePort listen_at_one_port() {
  // One that is free at the first address can be the source of a connection at another.
  for (int attempt = 0; attempt < 100; ++attempt) {
    OnePort made{.direct = bound(SOCK_STREAM, first_name), .upstream = {}, .stray = {}};
    made.upstream = try_bound(SOCK_STREAM, loopback, port_of(made.direct));
    made.stray = try_bound(SOCK_STREAM, elsewhere, port_of(made.direct));
    if (made.upstream.valid() && made.stray.valid()) return made;
  }
  ADD_FAILURE() << "no port is free";
  return {};
}

/// The helper, its upstream and its client, all on one loop that is turned until something holds.
class EgressHelper : public testing::Test {
 protected:
  void start(Egress rules) {
    rules_ = std::move(rules);
    auto pair = make_seqpacket_pair();
    gateway_ = std::move(pair->first);
    std::vector<ServedSocket> sockets;
    sockets.push_back({EgressSocketKind::direct, std::move(direct_)});
    sockets.push_back({EgressSocketKind::direct, std::move(stray_)});
    sockets.push_back({EgressSocketKind::proxy, std::move(proxy_)});
    sockets.push_back({EgressSocketKind::dns_udp, std::move(dns_udp_)});
    sockets.push_back({EgressSocketKind::dns_tcp, std::move(dns_tcp_)});
    HelperOptions options{.range = {.ipv4 = synthetic, .ipv4_prefix = 112},
                          .resolver = {.servers = resolver_.text()}};
    auto made = Helper::make(*loop_, rules_, std::move(pair->second), std::move(sockets), options);
    ASSERT_TRUE(made) << made.error().text;
    helper_ = *std::move(made);
  }

  /// Turns the loop until `holds`, or for ten seconds.
  bool turn_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    // Asked once in each turn: what it asks for it may take.
    while (!holds()) {
      if (!turn_once() || std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }

  bool turn_once() {
    Timer wake(*loop_, [] {});
    wake.set(5ms);
    return loop_->turn().has_value();
  }

  Fd connect_to(const InternetAddress& address, std::uint16_t port) {
    auto made = start_connection({address, port});
    EXPECT_TRUE(made);
    EXPECT_TRUE(turn_until([&] {
      sockaddr_in peer{};
      socklen_t size = sizeof peer;
      return ::getpeername(made->get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0;
    }));
    return *std::move(made);
  }

  Fd accept_upstream() {
    Fd accepted;
    EXPECT_TRUE(turn_until([&] {
      auto got = accept_from(upstream_.get());
      if (got) accepted = *std::move(got);
      return accepted.valid();
    }));
    return accepted;
  }

  /// What arrives, until it is `size` bytes, an end, or an abort.
  std::string read(const Fd& socket, std::size_t size = std::string::npos) {
    std::string all;
    IoStatus status = IoStatus::would_block;
    turn_until([&] {
      std::array<char, 65'536> buffer;
      const IoResult got = receive(socket.get(), buffer);
      all.append(buffer.data(), got.count);
      status = got.status;
      return all.size() >= size || status == IoStatus::ended || status == IoStatus::broken;
    });
    if (status == IoStatus::broken) all += "<abort>";
    if (status == IoStatus::ended) all += "<end>";
    return all;
  }

  EgressEvent next_event() {
    EgressEvent event;
    EXPECT_TRUE(turn_until(
        [&] { return receive_record(gateway_.get(), event, MSG_DONTWAIT).has_value(); }));
    return event;
  }

  std::string ask(std::string_view name, std::uint16_t type = type_a) {
    const Fd client = bound(SOCK_DGRAM);
    const std::string question = question_for(name, type);
    const sockaddr_in to = at(loopback, dns_port_);
    ::sendto(client.get(), question.data(), question.size(), 0,
             reinterpret_cast<const sockaddr*>(&to), sizeof to);
    return read(client, 1);
  }

  EgressRule to_loopback() const {
    return {.target = EgressTarget::range, .address = loopback, .prefix = 128, .port = port_};
  }
  EgressRule to_api() const {
    return {.target = EgressTarget::name, .host = "api.example.org", .port = port_};
  }

  /// Starts with a name that leads to the upstream, and has it looked up.
  void start_with_name(Egress rules = {}) {
    rules.allow = {to_api(), to_loopback()};
    resolver_.names["api.example.org"] = {{loopback}};
    start(std::move(rules));
    EXPECT_TRUE(ask("api.example.org").ends_with("\x7f\x12\0\2"s));
  }

  Fd connect_by_name() { return connect_to(first_name, port_); }

  std::unique_ptr<EventLoop> loop_ = *EventLoop::make();
  FakeResolver resolver_{*loop_};
  OnePort at_one_port_ = listen_at_one_port();
  Fd direct_ = std::move(at_one_port_.direct);
  Fd upstream_ = std::move(at_one_port_.upstream);
  Fd stray_ = std::move(at_one_port_.stray);
  std::uint16_t port_ = port_of(direct_);
  Fd proxy_ = bound(SOCK_STREAM);
  Fd dns_udp_ = bound(SOCK_DGRAM);
  Fd dns_tcp_ = bound(SOCK_STREAM);
  std::uint16_t proxy_port_ = port_of(proxy_);
  std::uint16_t dns_port_ = port_of(dns_udp_);
  std::uint16_t dns_tcp_port_ = port_of(dns_tcp_);
  Egress rules_;
  Fd gateway_;
  std::unique_ptr<Helper> helper_;
};

std::string_view host_of(const EgressEvent& event) {
  return {event.host.data(), event.host_length};
}

void say(const Fd& socket, std::string_view bytes) {
  EXPECT_EQ(send(socket.get(), bytes).count, bytes.size());
}

TEST_F(EgressHelper, ConnectsANameToAnAddressThatItWasCheckedFor) {
  start_with_name();
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  say(client, "GET / HTTP/1.1\r\n");
  EXPECT_EQ(read(server, 16), "GET / HTTP/1.1\r\n");
  say(server, "HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(read(client, 17), "HTTP/1.1 200 OK\r\n");
  const EgressEvent connected = next_event();
  EXPECT_EQ(connected.kind, EgressKind::connected);
  EXPECT_EQ(connected.connection, 1U);
  EXPECT_EQ(connected.address, loopback);
  EXPECT_EQ(connected.port, port_);
  EXPECT_EQ(host_of(connected), "api.example.org");
}

TEST_F(EgressHelper, PassesAnEndOnAndStillBringsTheAnswer) {
  start_with_name();
  const Fd client = connect_by_name();
  Fd server = accept_upstream();
  say(client, "question");
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(read(server), "question<end>");
  say(server, "answer");
  server.reset();
  EXPECT_EQ(read(client), "answer<end>");
  EXPECT_EQ(next_event().kind, EgressKind::connected);
  const EgressEvent closed = next_event();
  EXPECT_EQ(closed.kind, EgressKind::closed);
  EXPECT_EQ(closed.reason, EgressReason::none);
  EXPECT_EQ(closed.sent, 8U);
  EXPECT_EQ(closed.received, 6U);
}

TEST_F(EgressHelper, LetsTheServerSpeakFirst) {
  start_with_name();
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  say(server, "220 ready\r\n");
  EXPECT_EQ(read(client, 11), "220 ready\r\n");
}

TEST_F(EgressHelper, CarriesMoreThanItHoldsInOrder) {
  start_with_name();
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  std::string big;
  while (big.size() < (8U << 20)) put32(big, static_cast<std::uint32_t>(big.size()));
  std::string_view left = big;
  // All buffers on the way fill up first.
  for (int idle = 0; idle < 3;) {
    const std::size_t sent = send(client.get(), left).count;
    left.remove_prefix(sent);
    idle = sent == 0 ? idle + 1 : 0;
    turn_once();
  }
  EXPECT_FALSE(left.empty());
  std::string received;
  EXPECT_TRUE(turn_until([&] {
    if (!left.empty()) left.remove_prefix(send(client.get(), left).count);
    std::array<char, 65'536> buffer;
    received.append(buffer.data(), receive(server.get(), buffer).count);
    return received.size() == big.size();
  }));
  EXPECT_TRUE(received == big);
}

TEST_F(EgressHelper, AbortsBothSidesWhenOneDoes) {
  start_with_name();
  const Fd client = connect_by_name();
  Fd server = accept_upstream();
  abort_on_close(server.get());
  server.reset();
  EXPECT_EQ(read(client), "<abort>");
}

TEST_F(EgressHelper, DialsOnlyThoseAddressesOfANameThatMayBeDialled) {
  start({.allow = {to_api(), to_loopback()}});
  resolver_.names["api.example.org"] = {{elsewhere, loopback}};
  ask("api.example.org");
  const Fd client = connect_by_name();
  EXPECT_TRUE(accept_upstream().valid());
  EXPECT_EQ(next_event().address, loopback);
}

TEST_F(EgressHelper, TriesTheNextAddressWhenOneDoesNotAnswer) {
  EgressRule all_of_loopback = to_loopback();
  all_of_loopback.prefix = 104;
  start({.allow = {to_api(), all_of_loopback}});
  InternetAddress nobody = loopback;
  nobody[15] = 77;
  resolver_.names["api.example.org"] = {{nobody, loopback}};
  ask("api.example.org");
  const Fd client = connect_by_name();
  EXPECT_TRUE(accept_upstream().valid());
  EXPECT_EQ(next_event().address, loopback);
}

TEST_F(EgressHelper, RefusesANameThatMeansAPrivateAddressWhenItIsDialled) {
  start({.allow = {to_api()}});
  resolver_.names["api.example.org"] = {{somewhere_public}, {loopback}};
  EXPECT_TRUE(ask("api.example.org").ends_with("\x7f\x12\0\2"s));
  const Fd client = connect_by_name();
  EXPECT_EQ(read(client), "<abort>");
  const EgressEvent refused = next_event();
  EXPECT_EQ(refused.kind, EgressKind::connect_refused);
  EXPECT_EQ(refused.reason, EgressReason::private_address);
  EXPECT_EQ(refused.address, loopback);
  EXPECT_FALSE(accept_from(upstream_.get()));
}

TEST_F(EgressHelper, RefusesAnAddressThatNoRangeNames) {
  start({.allow = {to_api(), to_loopback()}});
  EXPECT_EQ(read(connect_to(elsewhere, port_)), "<abort>");
  EXPECT_EQ(next_event().reason, EgressReason::not_allowed);
}

TEST_F(EgressHelper, RefusesAnAddressThatStandsForNoNameYet) {
  Egress rules{.allow = {to_api()}};
  rules.allow.push_back({.target = EgressTarget::range, .prefix = 0, .port = port_});
  start(std::move(rules));
  EXPECT_EQ(read(connect_by_name()), "<abort>");
  EXPECT_EQ(next_event().reason, EgressReason::not_allowed);
}

TEST_F(EgressHelper, SaysWhyAConnectionCouldNotBeMade) {
  start_with_name();
  upstream_.reset();
  EXPECT_EQ(read(connect_by_name()), "<abort>");
  const EgressEvent refused = next_event();
  EXPECT_EQ(refused.reason, EgressReason::unreachable);
  EXPECT_EQ(refused.error, ECONNREFUSED);
}

TEST_F(EgressHelper, LetsATlsGreetingToTheNameThrough) {
  start_with_name();
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  const std::string hello = hello_for("API.example.org");
  say(client, hello.substr(0, 7));
  say(client, hello.substr(7) + "more");
  EXPECT_EQ(read(server, hello.size()), hello);
  const std::string answer = server_hello(std::string(32, 's'));
  say(server, answer);
  EXPECT_EQ(read(client, answer.size()), answer);
  EXPECT_EQ(read(server, 4), "more");
}

TEST_F(EgressHelper, ClosesATlsGreetingToAnotherName) {
  start_with_name();
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  say(client, hello_for("other.example.org"));
  EXPECT_EQ(read(server), "<abort>");
  EXPECT_EQ(read(client), "<abort>");
  EXPECT_EQ(next_event().kind, EgressKind::connected);
  EXPECT_EQ(next_event().reason, EgressReason::server_name_differs);
}

TEST_F(EgressHelper, LetsNoPartOfAGreetingThroughBeforeItIsJudged) {
  start_with_name();
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  say(client, hello_for("other.example.org").substr(0, 40));
  ::shutdown(client.get(), SHUT_WR);
  EXPECT_EQ(read(server), "<end>");
  EXPECT_EQ(next_event().kind, EgressKind::connected);
  EXPECT_EQ(next_event().reason, EgressReason::malformed);
}

TEST_F(EgressHelper, HoldsToTheNumberOfConnections) {
  start_with_name({.max_connections = 1});
  const Fd first = connect_by_name();
  EXPECT_EQ(next_event().kind, EgressKind::connected);
  EXPECT_EQ(read(connect_by_name()), "<abort>");
  EXPECT_EQ(next_event().reason, EgressReason::too_many_connections);
}

TEST_F(EgressHelper, HoldsToTheNumberOfBytes) {
  const auto asked = question_for("api.example.org", type_a).size();
  start_with_name({.max_bytes = asked + 10});
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  say(client, "0123456789abc");
  EXPECT_EQ(read(server), "0123456789<abort>");
  EXPECT_EQ(next_event().kind, EgressKind::connected);
  const EgressEvent closed = next_event();
  EXPECT_EQ(closed.reason, EgressReason::out_of_bytes);
  EXPECT_EQ(closed.sent, 10U);
  EXPECT_EQ(read(connect_by_name()), "<abort>");
  EXPECT_EQ(next_event().reason, EgressReason::out_of_bytes);
}

TEST_F(EgressHelper, TakesHttpConnectAsAProxy) {
  start_with_name();
  const Fd client = connect_to(loopback, proxy_port_);
  say(client, "CONNECT api.example.org:" + std::to_string(port_) + " HTTP/1.1\r\n\r\nfirst");
  const Fd server = accept_upstream();
  EXPECT_EQ(read(server, 5), "first");
  EXPECT_TRUE(read(client, 1).starts_with("HTTP/1.1 200 "));
}

TEST_F(EgressHelper, TellsAProxysClientWhatIsNotAllowed) {
  start_with_name();
  const Fd client = connect_to(loopback, proxy_port_);
  say(client, "CONNECT evil.net:443 HTTP/1.1\r\n\r\n");
  const std::string reply = read(client);
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 403 ")) << reply;
  EXPECT_TRUE(reply.ends_with("<end>")) << reply;
  EXPECT_EQ(host_of(next_event()), "evil.net");
}

TEST_F(EgressHelper, TakesSocksToALiteralAddress) {
  start({.allow = {to_loopback()}});
  const Fd client = connect_to(loopback, proxy_port_);
  say(client, "\5\1\0"s);
  EXPECT_EQ(read(client, 2), "\5\0"s);
  std::string request = "\5\1\0\1\x7f\0\0\1"s;
  put16(request, port_);
  say(client, request);
  const Fd server = accept_upstream();
  EXPECT_EQ(read(client, 10), "\5\0\0\1\0\0\0\0\0\0"s);
  say(client, hello_for("any.name"));
  EXPECT_EQ(read(server, 1), hello_for("any.name"));
}

TEST_F(EgressHelper, ComparesTheGreetingAlsoWhereAProxysClientLookedTheNameUp) {
  start_with_name();
  const Fd client = connect_to(loopback, proxy_port_);
  say(client, "\5\1\0\5\1\0\1\x7f\x12\0\2"s);
  std::string port;
  put16(port, port_);
  say(client, port);
  const Fd server = accept_upstream();
  EXPECT_EQ(host_of(next_event()), "api.example.org");
  say(client, hello_for("other.example.org"));
  EXPECT_EQ(read(server), "<abort>");
}

TEST_F(EgressHelper, AnswersOverTcpToo) {
  start({.allow = {to_api(), to_loopback()}});
  resolver_.names["api.example.org"] = {{loopback}};
  const Fd client = connect_to(loopback, dns_tcp_port_);
  for (int i = 0; i < 2; ++i) {
    const std::string question = question_for("api.example.org", type_a);
    std::string framed;
    put16(framed, static_cast<unsigned>(question.size()));
    say(client, framed + question);
    const std::string reply = read(client, 1);
    EXPECT_TRUE(reply.ends_with("\x7f\x12\0\2"s));
  }
}

TEST_F(EgressHelper, AsksNobodyAboutNamesThatAreNotAllowed) {
  start({.allow = {to_api()}});
  resolver_.names["evil.net"] = {{somewhere_public}};
  const std::string reply = ask("evil.net");
  EXPECT_EQ(reply.at(3) & 0xf, 3);
  const EgressEvent refused = next_event();
  EXPECT_EQ(refused.kind, EgressKind::name_refused);
  EXPECT_EQ(host_of(refused), "evil.net");
}

TEST_F(EgressHelper, TellsAllAtNoRateWhenItsCellIsGone) {
  start_with_name();
  const Fd client = connect_by_name();
  const Fd server = accept_upstream();
  say(client, "hello");
  ASSERT_EQ(read(server, 5), "hello");
  for (int i = 0; i < 60; ++i) ask("x" + std::to_string(i) + ".evil.net");
  helper_->finish();
  EXPECT_TRUE(loop_->run());
  std::uint64_t refused = 0;
  std::uint64_t sent = 0;
  EgressEvent event;
  while (receive_record(gateway_.get(), event, MSG_DONTWAIT)) {
    if (event.kind == EgressKind::name_refused) refused += event.count;
    if (event.kind == EgressKind::closed) sent += event.sent;
  }
  EXPECT_EQ(refused, 60U);
  EXPECT_EQ(sent, 5U);
}

TEST(EgressSocket, HoldsNoMoreInTheKernelThanItsBound) {
  const Fd listener = bound(SOCK_STREAM);
  const auto made = start_connection({loopback, port_of(listener)});
  ASSERT_TRUE(made);
  for (const int option : {SO_RCVBUF, SO_SNDBUF}) {
    int size = 0;
    socklen_t length = sizeof size;
    ASSERT_EQ(::getsockopt(made->get(), SOL_SOCKET, option, &size, &length), 0);
    EXPECT_LE(size, 2 * socket_buffer);
  }
}

TEST_F(EgressHelper, AsksTheHostsResolversNoMoreThanItsCellMay) {
  start({.allow = {{.target = EgressTarget::suffix, .host = "evil.net"}}, .max_bytes = 1 << 20});
  int declined = 0;
  for (int i = 0; i < 1000 && declined == 0; ++i) {
    if ((ask("x" + std::to_string(i) + ".evil.net").at(3) & 0xf) == 2) ++declined;
  }
  EXPECT_EQ(declined, 1);
}

TEST_F(EgressHelper, CountsQuestionsThatItPassesOnAsBytes) {
  start({.allow = {{.target = EgressTarget::suffix, .host = "evil.net"}}, .max_bytes = 50});
  EXPECT_EQ(ask("x.evil.net").at(3) & 0xf, 3);
  EXPECT_EQ(ask("y.evil.net").at(3) & 0xf, 3);
  EXPECT_EQ(ask("z.evil.net").at(3) & 0xf, 2);
}

TEST_F(EgressHelper, EndsWithTheGatewaysChannel) {
  start({.allow = {to_api()}});
  gateway_.reset();
  EXPECT_TRUE(loop_->run());
}

}  // namespace
}  // namespace cellblock::egress
