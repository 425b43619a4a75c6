#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "policy/config/config_bytes.h"
#include "supervisor/egress/resolver.h"
#include "supervisor/ipc/wire.h"
#include "tests/unit/egress_question.h"
#include "tests/unit/fake_resolver.h"
#include "tests/unit/filtered_child.h"

namespace cellblock::egress {
namespace {

using wire::EgressSocketKind;

FilterProgram egress_filter() {
  auto filter = compile_filter(InternalProfile::egress);
  EXPECT_TRUE(filter) << (filter ? "" : filter.error().text);
  return filter.value_or(FilterProgram{});
}

bool is_readable(int socket) {
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&waiting, 1, 10'000) == 1;
}

/// All that comes until the end, or `size` bytes.
std::string read(const Fd& socket, std::size_t size) {
  std::string all;
  while (all.size() < size && is_readable(socket.get())) {
    std::array<char, 4096> buffer;
    const IoResult got = receive(socket.get(), buffer);
    if (got.count == 0) break;
    all.append(buffer.data(), got.count);
  }
  return all;
}

/// The program itself, started as the launcher starts it: descriptors in their places, filtered
/// before it is executed by descriptor.
class EgressProgram : public testing::Test {
 protected:
  void start(const Config& config, wire::EgressStart record) {
    const Fd sealed_config = *make_sealed("config", encode(config));
    const Fd sealed_start = *make_sealed("start", std::as_bytes(std::span(&record, 1)));
    auto pair = make_seqpacket_pair();
    gateway_ = std::move(pair->first);
    const Fd program = *open_at(AT_FDCWD, CELLBLOCK_EGRESS, O_PATH);
    const FilterProgram filter = egress_filter();
    const std::array<int, 5> places = {pair->second.get(), sealed_config.get(), sealed_start.get(),
                                       proxy_.get(), dns_.get()};
    child_ = ::fork();
    if (child_ == 0) become(places, program.get(), filter);
  }

  [[noreturn]] static void become(const std::array<int, 5>& places, int program,
                                  const FilterProgram& filter) {
    constexpr int above = 100;
    const int kept = ::fcntl(program, F_DUPFD_CLOEXEC, above);
    std::array<int, 5> moved{};
    for (std::size_t i = 0; i < places.size(); ++i) moved[i] = ::fcntl(places[i], F_DUPFD, above);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      ::dup2(moved[i], wire::egress_fd::gateway + static_cast<int>(i));
    }
    ::close_range(8, above - 1, 0);
    if (testing_support::load_filter(filter, 0) < 0) ::_exit(testing_support::could_not_load);
    std::array<char*, 1> none = {nullptr};
    ::syscall(SYS_execveat, kept, "", none.data(), none.data(), AT_EMPTY_PATH);
    ::_exit(testing_support::could_not_load);
  }

  Config config() const {
    Server server;
    server.name = "reader";
    server.network = NetworkMode::egress;
    server.egress.allow = {
        {.target = EgressTarget::name, .host = "localhost", .port = port_of(upstream_)},
        {.target = EgressTarget::range,
         .address = loopback,
         .prefix = 128,
         .port = port_of(upstream_)}};
    Config config;
    config.servers.push_back(std::move(server));
    return config;
  }

  static wire::EgressStart record() {
    wire::EgressStart start;
    start.socket_count = 2;
    start.sockets[0] = {.kind = EgressSocketKind::proxy};
    start.sockets[1] = {.kind = EgressSocketKind::dns_udp, .port = 53};
    return start;
  }

  Fd upstream_ = bound(SOCK_STREAM);
  Fd proxy_ = bound(SOCK_STREAM);
  Fd dns_ = bound(SOCK_DGRAM);
  Fd gateway_;
  pid_t child_ = -1;
};

TEST_F(EgressProgram, ConnectsUnderItsFilterAndEndsWithTheGateway) {
  start(config(), record());
  const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in proxy = at(loopback, port_of(proxy_));
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&proxy), sizeof proxy), 0);
  send(client.get(),
       "CONNECT localhost:" + std::to_string(port_of(upstream_)) + " HTTP/1.1\r\n\r\nhello");
  ASSERT_TRUE(is_readable(upstream_.get()));
  const auto server = accept_from(upstream_.get());
  ASSERT_TRUE(server);
  EXPECT_EQ(read(*server, 5), "hello");
  wire::EgressEvent event;
  ASSERT_TRUE(receive_record(gateway_.get(), event));
  EXPECT_EQ(event.kind, wire::EgressKind::connected);
  gateway_.reset();
  EXPECT_EQ(testing_support::end_of(child_), "exit 0");
}

TEST_F(EgressProgram, TellsUnderItsFilterWhatAnOpenConnectionMovedAndEnds) {
  start(config(), record());
  const Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in proxy = at(loopback, port_of(proxy_));
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&proxy), sizeof proxy), 0);
  send(client.get(),
       "CONNECT localhost:" + std::to_string(port_of(upstream_)) + " HTTP/1.1\r\n\r\nhello");
  ASSERT_TRUE(is_readable(upstream_.get()));
  const auto server = accept_from(upstream_.get());
  ASSERT_TRUE(server);
  ASSERT_EQ(read(*server, 5), "hello");
  ASSERT_EQ(::kill(child_, SIGTERM), 0);
  EXPECT_EQ(testing_support::end_of(child_), "exit 0");
  wire::EgressEvent event;
  while (event.kind != wire::EgressKind::closed && receive_record(gateway_.get(), event)) {
  }
  EXPECT_EQ(event.kind, wire::EgressKind::closed);
  EXPECT_EQ(event.sent, 5U);
}

TEST_F(EgressProgram, AnswersQuestionsUnderItsFilter) {
  start(config(), record());
  const Fd client = bound(SOCK_DGRAM);
  const sockaddr_in resolver = at(loopback, port_of(dns_));
  const std::string question = question_for("localhost", type_a);
  ::sendto(client.get(), question.data(), question.size(), 0,
           reinterpret_cast<const sockaddr*>(&resolver), sizeof resolver);
  EXPECT_TRUE(read(client, 1).ends_with("\xc6\x12" + std::string("\0\2", 2)));
  gateway_.reset();
  EXPECT_EQ(testing_support::end_of(child_), "exit 0");
}

TEST_F(EgressProgram, DoesNotStartForAServerWithoutEgress) {
  Config other = config();
  other.servers[0].network = NetworkMode::none;
  start(other, record());
  EXPECT_EQ(testing_support::end_of(child_), "exit 1");
}

TEST_F(EgressProgram, DoesNotStartWithARecordThatIsNone) {
  wire::EgressStart bad = record();
  bad.socket_count = wire::max_egress_sockets + 1;
  start(config(), bad);
  EXPECT_EQ(testing_support::end_of(child_), "exit 1");
}

// In this program, since the helper's own has no way to be told of another resolver.
TEST(EgressFilter, LetsTheResolverAskOverTheNetwork) {
  const auto loop = *EventLoop::make();
  FakeResolver server(*loop);
  server.names["api.example.org"] = {{loopback}};
  const auto ask = [&] {
    auto resolver = Resolver::make(*loop, {.servers = server.text()});
    if (!resolver) return 1;
    bool found = false;
    const auto lookup = (*resolver)->look_up("api.example.org", [&](const LookupResult& result) {
      found = result.status == LookupStatus::found && result.addresses.front() == loopback;
      loop->stop();
    });
    return loop->run() && found ? 0 : 2;
  };
  EXPECT_EQ(testing_support::end_under(egress_filter(), ask), "exit 0");
}

}  // namespace
}  // namespace cellblock::egress
