#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "supervisor/gateway/gateway.h"
#include "tests/unit/fake_audit_writer.h"

/// A whole gateway in a thread of its own, between a supervisor, a launcher, hosts and servers that
/// the test plays itself.
namespace cellblock::gateway::testing {

using Json = nlohmann::json;

inline constexpr int patience_ms = 20'000;  // only a hang waits for this long

/// One end of a stream of lines.
class Lines {
 public:
  Lines() = default;
  Lines(Fd in, Fd out) : in_(std::move(in)), out_(std::move(out)) {}

  void send(std::string_view line) { send_raw(std::string(line) + "\n"); }
  void send_raw(std::string_view bytes) {
    ASSERT_TRUE(write_all(out_.valid() ? out_.get() : in_.get(), bytes));
  }

  /// The next line; nothing at the end of the stream.
  std::optional<std::string> read() {
    for (;;) {
      if (const auto newline = buffer_.find('\n'); newline != std::string::npos) {
        std::string line = buffer_.substr(0, newline);
        buffer_.erase(0, newline + 1);
        return line;
      }
      if (!fill()) return std::nullopt;
    }
  }
  Json read_json() {
    const auto line = read();
    EXPECT_TRUE(line) << "the stream has ended";
    return line ? Json::parse(*line) : Json{};
  }
  bool at_end() { return !read(); }

  void close_output() { out_.reset(); }
  void close_input() { in_.reset(); }
  void half_close() { ::shutdown(in_.get(), SHUT_WR); }
  void close() { in_.reset(), out_.reset(); }
  int fd() const { return in_.get(); }

 private:
  bool fill() {
    pollfd ready{in_.get(), POLLIN, 0};
    if (::poll(&ready, 1, patience_ms) != 1) {
      ADD_FAILURE() << "nothing came";
      return false;
    }
    std::array<char, 65536> bytes;
    const ssize_t count = ::read(in_.get(), bytes.data(), bytes.size());
    if (count <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }

  Fd in_;
  Fd out_;
  std::string buffer_;
};

inline Pair stream_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

/// A server as its launcher sees it.
struct FakeCell {
  std::uint64_t number = 0;
  Lines mcp;  ///< what it reads and writes
  Fd errors;
};

inline CellFacts exited(int code) {
  CellFacts facts;
  facts.kind = EndKind::exited;
  facts.exit_code = code;
  return facts;
}

inline CellFacts killed(int signal) {
  CellFacts facts;
  facts.kind = EndKind::signalled;
  facts.signal = signal;
  return facts;
}

class GatewayRig : public ::testing::Test {
 protected:
  static constexpr std::uint32_t user = 1000;

  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);  // as the program does it
    Server server;
    server.name = "files";
    server.command = {"/usr/bin/server"};
    server.rules = {short_form({user}, {}, {{"read_", true}, {"list", false}})};
    server.pin = PinMode::off;  // the servers here are asked what a test says, and nothing else
    config_.servers = {server};
    config_.servers.push_back(server);
    config_.servers[1].name = "private";
    config_.servers[1].rules[0].uids = {user + 1};
  }

  void start() {
    auto supervisor = *make_seqpacket_pair();
    auto launcher = *make_seqpacket_pair();
    auto audit = *make_seqpacket_pair();
    supervisor_ = std::move(supervisor.first);
    launcher_ = std::move(launcher.first);
    audit_.emplace(std::move(audit.first));
    thread_ =
        std::thread([config = config_, channels = std::make_shared<GatewayChannels>(
                                           std::move(supervisor.second), std::move(launcher.second),
                                           std::move(audit.second))]() mutable {
          const auto loop = EventLoop::make();
          Gateway gateway(**loop, std::move(config), std::move(*channels));
          EXPECT_TRUE((*loop)->run());
        });
  }

  /// Without a launcher it ends at once; without a supervisor it waits for its cells.
  void TearDown() override {
    launcher_.reset();
    wait_for_gateway();
  }
  void wait_for_gateway() {
    if (thread_.joinable()) thread_.join();
  }

  Lines connect(std::uint32_t uid = user) { return connect(wire::SessionGrant{.uid = uid}); }

  Lines connect(wire::SessionGrant grant) {
    Pair ends = stream_pair();
    grant.kind = wire::SupervisorSends::session;
    grant.connection = ++connections_;
    const int fd = ends.second.get();
    EXPECT_TRUE(send_record(supervisor_.get(), grant, std::span(&fd, 1)));
    return {std::move(ends.first), Fd{}};
  }

  /// What came with it is in `handed`. What cells use is answered in passing.
  wire::GatewayRequest expect_request(wire::GatewayRequestKind kind) {
    wire::GatewayRequest request = next_request();
    while (request.kind == wire::GatewayRequestKind::usage) {
      tell_usage({});
      request = next_request();
    }
    EXPECT_EQ(request.kind, kind);
    return request;
  }

  void tell_usage(const std::vector<wire::CellUsage>& cells) {
    wire::CellEvent event{.kind = wire::CellEventKind::usage};
    for (const wire::CellUsage& cell : cells) event.usage.cells.at(event.usage.count++) = cell;
    EXPECT_TRUE(send_record(launcher_.get(), event));
  }

  /// The result of cellblock/status, for which the launcher says what these cells use.
  Json status_of(Lines& host, const std::vector<wire::CellUsage>& used = {}) {
    host.send(R"({"jsonrpc":"2.0","id":"status","method":"cellblock/status"})");
    for (;;) {
      std::array<pollfd, 2> ready{pollfd{launcher_.get(), POLLIN, 0}, pollfd{host.fd(), POLLIN, 0}};
      EXPECT_GT(::poll(ready.data(), ready.size(), patience_ms), 0) << "no status came";
      if ((ready[0].revents & POLLIN) == 0) return host.read_json()["result"];
      EXPECT_EQ(next_request().kind, wire::GatewayRequestKind::usage);
      tell_usage(used);
    }
  }

  /// Answers the next start_cell; with the channel of an egress helper, if there is one.
  FakeCell build_cell(int egress = -1) {
    const auto request = expect_request(wire::GatewayRequestKind::start_cell);
    Pair input = *make_pipe();
    Pair output = *make_pipe();
    Pair errors = *make_pipe();
    wire::CellEvent event;
    event.kind = wire::CellEventKind::started;
    event.request = request.request;
    event.cell = ++cells_;
    std::vector<int> fds{input.second.get(), output.first.get(), errors.first.get()};
    if (egress >= 0) fds.push_back(egress);
    EXPECT_TRUE(send_record(launcher_.get(), event, fds));
    return {event.cell, Lines(std::move(input.first), std::move(output.second)),
            std::move(errors.second)};
  }

  void tell(const FakeCell& cell, wire::CellEventKind kind, const CellFacts& facts = {}) {
    wire::CellEvent event;
    event.kind = kind;
    event.cell = cell.number;
    event.facts = facts;
    EXPECT_TRUE(send_record(launcher_.get(), event));
  }

  FakeCell start_cell() {
    FakeCell cell = build_cell();
    tell(cell, wire::CellEventKind::running);
    return cell;
  }

  /// As the kernel does it: first its descriptors close, then the launcher hears of it.
  void end_cell(FakeCell& cell, const CellFacts& facts) {
    cell.mcp.close();
    cell.errors.reset();
    tell(cell, wire::CellEventKind::ended, facts);
  }

  static constexpr std::string_view attach =
      R"({"jsonrpc":"2.0","id":"a","method":"cellblock/attach","params":{"server":"files"}})";

  FakeCell attach_host(Lines& host) {
    host.send(attach);
    FakeCell cell = start_cell();
    const Json reply = host.read_json();
    EXPECT_EQ(reply["result"]["server"], "files") << reply;
    return cell;
  }

  /// With a pipe each way instead of the socket; `control` is the socket.
  std::pair<Lines, Lines> connect_with_stdio(std::string_view request) {
    Lines control = connect();
    Pair to_gateway = *make_pipe();
    Pair from_gateway = *make_pipe();
    send_with(control.fd(), request, {to_gateway.first.get(), from_gateway.second.get()});
    return {std::move(control), Lines(std::move(from_gateway.first), std::move(to_gateway.second))};
  }

  static void send_with(int socket, std::string_view line, std::vector<int> fds) {
    const std::string bytes = std::string(line) + "\n";
    EXPECT_TRUE(send_record(socket, std::as_bytes(std::span(bytes)), fds));
  }

  Config config_;
  Fd supervisor_;
  Fd launcher_;
  std::optional<FakeAuditWriter> audit_;
  std::vector<Fd> handed;

 private:
  wire::GatewayRequest next_request() {
    pollfd ready{launcher_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, patience_ms), 1) << "the launcher was not asked";
    wire::GatewayRequest request;
    auto received = receive_record(launcher_.get(), request);
    EXPECT_TRUE(received);
    if (received) handed = std::move(received->fds);
    return request;
  }

  std::uint32_t connections_ = 0;
  std::uint64_t cells_ = 0;
  std::thread thread_;
};

}  // namespace cellblock::gateway::testing
