#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "policy/config/access_rule.h"
#include "policy/config/config_bytes.h"
#include "policy/encoding/sha256.h"
#include "supervisor/ipc/wire.h"
#include "tests/unit/filtered_child.h"

namespace cellblock::http {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string token(32, 'a');

FilterProgram http_filter() {
  auto filter = compile_filter(InternalProfile::http);
  EXPECT_TRUE(filter) << (filter ? "" : filter.error().text);
  return filter.value_or(FilterProgram{});
}

std::string read_some(int socket) {
  pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
  if (::poll(&waiting, 1, 10'000) != 1) return {};
  std::array<char, 4096> room{};
  const ssize_t count = ::recv(socket, room.data(), room.size(), 0);
  return count <= 0 ? std::string{} : std::string(room.data(), static_cast<std::size_t>(count));
}

Fd listen_on_loopback() {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(socket.get(), 16), 0);
  return socket;
}

/// The program itself, started as the launcher starts it: descriptors in their places, filtered
/// before it is executed by descriptor.
class HttpProgram : public testing::Test {
 protected:
  void start() {
    const Fd sealed = *make_sealed("config", encode(config()));
    Pair channel = *make_seqpacket_pair();
    supervisor_ = std::move(channel.first);
    const Fd program = *open_at(AT_FDCWD, CELLBLOCK_HTTP, O_PATH);
    const FilterProgram filter = http_filter();
    const std::array<int, 3> places = {channel.second.get(), sealed.get(), listener_.get()};
    child_ = ::fork();
    if (child_ == 0) become(places, program.get(), filter);
  }

  [[noreturn]] static void become(const std::array<int, 3>& places, int program,
                                  const FilterProgram& filter) {
    constexpr int above = 100;
    const int kept = ::fcntl(program, F_DUPFD_CLOEXEC, above);
    std::array<int, 3> moved{};
    for (std::size_t i = 0; i < places.size(); ++i) moved[i] = ::fcntl(places[i], F_DUPFD, above);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      ::dup2(moved[i], wire::http_fd::supervisor + static_cast<int>(i));
    }
    ::close_range(6, above - 1, 0);
    if (testing_support::load_filter(filter, 0) < 0) ::_exit(testing_support::could_not_load);
    std::array<char*, 1> none = {nullptr};
    ::syscall(SYS_execveat, kept, "", none.data(), none.data(), AT_EMPTY_PATH);
    ::_exit(testing_support::could_not_load);
  }

  void TearDown() override {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  static Config config() {
    Config config;
    config.http.emplace();
    config.http->address = "127.0.0.1";
    config.http->port = 1;
    config.http->max_connections = 2;
    config.http->tokens.push_back({sha256(token), 1000, 1000, {}, "ci"});
    config.servers.emplace_back().rules = {short_form({1000}, {}, {})};
    return config;
  }

  Fd connect() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    return socket;
  }

  static void ask(const Fd& socket, const std::string& authorization) {
    const std::string body =
        R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}})";
    const std::string text =
        "POST /mcp/files HTTP/1.1\r\nHost: localhost\r\n" + authorization +
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  Fd listener_ = listen_on_loopback();
  Fd supervisor_;
  pid_t child_ = -1;
};

TEST_F(HttpProgram, BringsARequestToAGatewayUnderItsFilter) {
  start();
  const Fd host = connect();
  ask(host, "Authorization: Bearer " + token + "\r\n");
  wire::HttpRequest asked;
  ASSERT_TRUE(receive_record(supervisor_.get(), asked));
  EXPECT_EQ(asked.kind, wire::HttpAsks::open_for_token);
  const Pair session = *make_stream_pair();
  const std::array<int, 1> fds{session.second.get()};
  ASSERT_TRUE(send_record(
      supervisor_.get(),
      wire::HttpAnswer{.kind = wire::HttpTells::opened, .request = asked.request}, fds));
  EXPECT_THAT(read_some(session.first.get()), HasSubstr("cellblock/attach"));
}

TEST_F(HttpProgram, ConnectionsThatShowNoTokenKeepNobodyOut) {
  start();
  const Fd one = connect();
  const Fd other = connect();
  const Fd host = connect();
  ask(host, "");
  EXPECT_THAT(read_some(host.get()), StartsWith("HTTP/1.1 401 "));
}

TEST_F(HttpProgram, ARequestThatHasComeIsHeardHoweverManyConnectAfterIt) {
  start();
  std::vector<Fd> strangers;
  for (int i = 0; i < 2; ++i) strangers.push_back(connect());
  const Fd host = connect();
  ask(host, "Authorization: Bearer " + token + "\r\n");
  for (int i = 0; i < 12; ++i) strangers.push_back(connect());
  wire::HttpRequest asked;
  ASSERT_TRUE(receive_record(supervisor_.get(), asked));
  EXPECT_EQ(asked.kind, wire::HttpAsks::open_for_token);
}

TEST_F(HttpProgram, AnIdleConnectionGoesForOneThatWaitsAndTheOneOfWhomHasMost) {
  start();
  const std::string nonsense =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token +
      "\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 1\r\n\r\nx";
  std::vector<Fd> idle;
  for (int i = 0; i < 2; ++i) {
    idle.push_back(connect());
    ASSERT_GT(::send(idle.back().get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL), 0);
    ASSERT_THAT(read_some(idle.back().get()), StartsWith("HTTP/1.1 400 "));
  }
  const Fd host = connect();
  ask(host, "");
  EXPECT_THAT(read_some(host.get()), StartsWith("HTTP/1.1 401 "));
  EXPECT_EQ(read_some(idle[0].get()), "") << "the oldest was closed";
}

TEST_F(HttpProgram, NobodyIsSentAwayForSomebodyWhoIsNotThere) {
  start();
  const Fd one = connect();
  const Fd other = connect();
  // Both are accepted, and both have long had their time, before one of them speaks.
  pollfd closed{.fd = other.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&closed, 1, 300), 0);
  ask(one, "");
  EXPECT_THAT(read_some(one.get()), StartsWith("HTTP/1.1 401 "));
  ask(other, "");
  EXPECT_THAT(read_some(other.get()), StartsWith("HTTP/1.1 401 "));
}

/// Whether it is anywhere in the memory of that process; nothing: it may not be read.
std::optional<bool> is_in_memory(pid_t process, const std::string& text) {
  const std::string directory = "/proc/" + std::to_string(process);
  std::ifstream maps(directory + "/maps");
  std::ifstream memory(directory + "/mem", std::ios::binary);
  if (!maps || !memory) return std::nullopt;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;  // NOLINT(google-runtime-int): what %lx reads
    unsigned long end = 0;    // NOLINT(google-runtime-int)
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;  // NOLINT(cert-err34-c)
    if (!line.contains(" rw")) continue;
    std::string bytes(end - begin, '\0');
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(begin));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (bytes.contains(text)) return true;
  }
  return false;
}

TEST_F(HttpProgram, KeepsNoCopyOfATokenThatItHasRecognised) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer maps terabytes and keeps what was freed";
#endif
  start();
  const Fd slow = connect();
  const std::string begun = "POST /mcp HTTP/1.1\r\nAuthorization: Bearer " + std::string(40, 'b');
  ASSERT_GT(::send(slow.get(), begun.data(), begun.size(), MSG_NOSIGNAL), 0);
  const Fd host = connect();
  ask(host, "Authorization: Bearer " + token + "\r\n");
  wire::HttpRequest asked;
  ASSERT_TRUE(receive_record(supervisor_.get(), asked));
  const auto of_slow = is_in_memory(child_, std::string(40, 'b'));
  if (!of_slow) GTEST_SKIP() << "/proc/PID/mem of a process that is not dumpable";
  EXPECT_TRUE(*of_slow) << "what has not been recognised yet is there";
  EXPECT_FALSE(*is_in_memory(child_, token));
}

TEST_F(HttpProgram, AListenerThatIsOfNoUseEndsIt) {
  start();
  const Fd host = connect();
  ask(host, "");
  ASSERT_THAT(read_some(host.get()), StartsWith("HTTP/1.1 401 "));
  ::shutdown(listener_.get(), SHUT_RD);
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  child_ = -1;
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), EXIT_FAILURE);
}

TEST_F(HttpProgram, EndsInPeaceWithItsSupervisor) {
  start();
  const Fd host = connect();
  ask(host, "");
  ASSERT_THAT(read_some(host.get()), StartsWith("HTTP/1.1 401 "));
  ::shutdown(listener_.get(), SHUT_RD);
  supervisor_.reset();
  int status = 0;
  ASSERT_EQ(::waitpid(child_, &status, 0), child_);
  child_ = -1;
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), EXIT_SUCCESS);
}

/// 0: the listening socket could be ended or changed, or had another number.
int harm_listener(const FilterProgram* filter, int listener) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(listener, wire::http_fd::listener);
    if (filter != nullptr && testing_support::load_filter(*filter, 0) < 0) {
      ::_exit(testing_support::could_not_load);
    }
    const int yes = 1;
    const bool changed =
        ::setsockopt(wire::http_fd::listener, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes) == 0;
    const bool copied =
        ::fcntl(wire::http_fd::listener, F_DUPFD, 50) >= 0 || ::dup(wire::http_fd::listener) >= 0;
    const bool ended = ::shutdown(wire::http_fd::listener, SHUT_RDWR) == 0;
    ::_exit(changed || copied || ended ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(HttpFilter, KeepsTheListenerOfTheNextHelperAsItIs) {
  const FilterProgram filter = http_filter();
  EXPECT_EQ(harm_listener(&filter, listen_on_loopback().get()), 1);
  EXPECT_EQ(harm_listener(nullptr, listen_on_loopback().get()), 0) << "without a filter";
}

}  // namespace
}  // namespace cellblock::http
