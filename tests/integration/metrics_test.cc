// What is counted, scraped from a real cellblockd over its Unix socket; what else may be asked
// there; and what the process that answers can do.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/integration/daemon.h"
#include "tests/integration/loopback.h"

namespace cellblock::harness {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string status_field(int pid, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return {};
}

std::string namespace_of(int pid, const std::string& kind) {
  return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/{}", pid, kind)).string();
}

/// All that comes until the other side closes.
std::string answer_from(int socket, std::string_view request) {
  static_cast<void>(::send(socket, request.data(), request.size(), MSG_NOSIGNAL));
  std::string all;
  std::array<char, 4096> room{};
  pollfd watched{socket, POLLIN, 0};
  while (::poll(&watched, 1, static_cast<int>(std::chrono::milliseconds(deadline).count())) > 0) {
    const ssize_t count = ::read(socket, room.data(), room.size());
    if (count <= 0) break;
    all.append(room.data(), static_cast<std::size_t>(count));
  }
  return all;
}

std::string request_for(std::string_view verb, std::string_view target,
                        std::string_view host = "localhost") {
  return fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", verb, target, host);
}

class Metrics : public testing::TestWithParam<Mode> {
 protected:
  Metrics() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it connects as several users";
    daemon_.start(
        {.servers = server_of_build(daemon_, "echo", "echo_server") +
                    server_of_build(daemon_, "crashing", "misbehaving_server", {"exit-one"}) +
                    fmt::format("[metrics]\nsocket = \"{}\"\n{}", socket(),
                                GetParam() == Mode::system ? "mode = \"0666\"\n" : "")});
  }

  std::string socket() const { return daemon_.directory().path("run/metrics.sock"); }

  std::string answer_to(std::string_view request) const {
    const Host scraper(socket(), daemon_.user());
    return answer_from(scraper.socket(), request);
  }

  std::string ask(std::string_view verb, std::string_view target) const {
    return answer_to(request_for(verb, target));
  }

  std::string scrape() const { return ask("GET", "/metrics"); }

  /// An answer may be here before the numbers are. The last scrape; empty: it did not come.
  std::string scrape_until(const std::string& line, bool is_there = true) const {
    const auto until = std::chrono::steady_clock::now() + deadline;
    while (std::chrono::steady_clock::now() < until) {
      std::string text = scrape();
      if (text.starts_with("HTTP/1.1 200 ") && text.contains(line) == is_there) return text;
    }
    ADD_FAILURE() << "never told: " << line;
    return {};
  }

  int helper() const { return daemon_.processes_named("cellblock-metrics").at(0); }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Metrics, testing::Values(Mode::system, Mode::user), name_of_mode);

TEST_P(Metrics, CountWhatHostsCallAndWhatTheyAreRefused) {
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "one"}}), "one");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "two"}}), "two");
  const std::string text =
      scrape_until("\ncellblock_call_duration_seconds_count{server=\"echo\"} 2\n");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(text, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(text, HasSubstr("\ncellblock_calls_total{server=\"echo\",outcome=\"ok\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\ncellblock_call_duration_seconds_count{server=\"echo\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\ncellblock_calls_in_flight{server=\"echo\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\ncellblock_cells{server=\"echo\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncellblock_sessions 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncellblock_gateways 1\n"));
  EXPECT_THAT(text, HasSubstr("\ncellblock_connections_total 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("64101"))) << "uids are no labels";
}

TEST_P(Metrics, DoNotFallWhenAUsersGatewayHasEnded) {
  {
    Host host = daemon_.connect();
    host.open_session("echo");
    EXPECT_EQ(host.call_for_text("echo", {{"text", "one"}}), "one");
    scrape_until("\ncellblock_calls_total{server=\"echo\",outcome=\"ok\"} 1\n");
  }
  ::kill(daemon_.processes_named("cellblock-gateway").at(0), SIGKILL);
  scrape_until("\ncellblock_gateways 0\n");
  const std::string text = scrape_until("\ncellblock_cells{server=\"echo\"} 0\n");
  EXPECT_THAT(text, HasSubstr("\ncellblock_calls_total{server=\"echo\",outcome=\"ok\"} 1\n"));
}

TEST_P(Metrics, TellHowCellsEnded) {
  Host host = daemon_.connect();
  // Told with the attach where the cell has ended by then, else with what comes next.
  const bool told_at_once = host.attach("crashing").contains("error");
  EXPECT_TRUE(told_at_once || host.request("initialize").contains("error"));
  const std::string ends =
      "\ncellblock_cell_ends_total{server=\"crashing\",verdict=\"early_crash\"} ";
  EXPECT_THAT(scrape_until(ends + "0\n", false), HasSubstr(ends));
}

TEST_P(Metrics, AnswerNothingElse) {
  EXPECT_THAT(ask("GET", "/"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask("POST", "/metrics"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(ask("DELETE", "/metrics"), StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(answer_to("GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " +
                        std::string(20'000, 'x') + "\r\n\r\n"),
              StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(answer_to("POST /metrics HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Length: 99999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(answer_to("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(scrape(), StartsWith("HTTP/1.1 200 "));
}

TEST_P(Metrics, WhoAnswersIsUnderAFilterInNamespacesOfItsOwn) {
  EXPECT_EQ(status_field(helper(), "Seccomp"), "2");
  EXPECT_EQ(status_field(helper(), "NoNewPrivs"), "1");
  EXPECT_EQ(status_field(helper(), "CapEff"), "0000000000000000");
  for (const char* kind : {"user", "mnt", "net", "pid"}) {
    EXPECT_NE(namespace_of(helper(), kind), namespace_of(::getpid(), kind)) << kind;
  }
}

TEST_P(Metrics, AHelperThatDiesComesBackAndReadsOnWhatRuns) {
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "one"}}), "one");
  ::kill(helper(), SIGKILL);
  // The listening socket is the supervisor's too: whoever connects waits for the next helper.
  scrape_until("\ncellblock_calls_total{server=\"echo\",outcome=\"ok\"} 1\n");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "two"}}), "two");
  scrape_until("\ncellblock_calls_total{server=\"echo\",outcome=\"ok\"} 2\n");
}

// --- on a port -----------------------------------------------------------------------------------

std::string ask_port(std::uint16_t port, std::string_view host) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  return answer_from(socket.get(), request_for("GET", "/metrics", host));
}

TEST(MetricsOnAPort, AreNotForPagesThatComeByAnotherName) {
  if (!running_as_root()) GTEST_SKIP() << "needs root, as the others here";
  Daemon daemon{Mode::system};
  const std::uint16_t port = free_port();
  daemon.start({.servers = server_of_build(daemon, "echo", "echo_server") +
                           fmt::format("[metrics]\nport = {}\n", port)});
  if (testing::Test::HasFatalFailure()) return;
  EXPECT_THAT(ask_port(port, fmt::format("127.0.0.1:{}", port)), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(ask_port(port, "rebound.example.com"), StartsWith("HTTP/1.1 403 "));
}

}  // namespace
}  // namespace cellblock::harness
