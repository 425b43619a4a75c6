// MCP over HTTP, against a real cellblockd: who may ask, what is refused, and what a dead helper
// costs.

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/integration/daemon.h"
#include "tests/integration/loopback.h"

namespace cellblock::harness {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const std::string token(40, 't');
constexpr std::string_view initialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}})";

Fd connect_to(std::uint16_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  return socket;
}

/// All that comes until the other side closes.
std::string rest_of(int socket) {
  std::string all;
  std::array<char, 4096> room{};
  for (;;) {
    pollfd watched{socket, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(std::chrono::milliseconds(deadline).count())) <= 0) {
      return all;
    }
    const ssize_t count = ::read(socket, room.data(), room.size());
    if (count <= 0) return all;
    all.append(room.data(), static_cast<std::size_t>(count));
  }
}

std::string answer_to(int socket, std::string_view request) {
  static_cast<void>(::send(socket, request.data(), request.size(), MSG_NOSIGNAL));
  return rest_of(socket);
}

struct Wish {
  std::string path = "/mcp/echo";
  std::string host = "localhost";
  std::string more = "Authorization: Bearer " + token + "\r\n";
  std::string body = std::string(initialize);
};

std::string text_of(const Wish& wish) {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\n{}Content-Type: application/json\r\nAccept: "
      "application/json, "
      "text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
      wish.path, wish.host, wish.more, wish.body.size(), wish.body);
}

std::string header_of(const std::string& answer, const std::string& name) {
  const std::size_t start = answer.find(name + ": ");
  if (start == std::string::npos) return {};
  const std::size_t begin = start + name.size() + 2;
  return answer.substr(begin, answer.find("\r\n", begin) - begin);
}

Json body_of(const std::string& answer) {
  const std::size_t gap = answer.find("\r\n\r\n");
  return gap == std::string::npos ? Json() : Json::parse(answer.substr(gap + 4), nullptr, false);
}

class Http : public testing::TestWithParam<Mode> {
 protected:
  Http() : daemon_(GetParam()), port_(free_port()) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it connects as several users";
    const std::string file = daemon_.directory().write("token", token + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    if (GetParam() != Mode::system) {
      ASSERT_EQ(::chown(file.c_str(), daemon_.user().uid, daemon_.user().gid), 0);
    }
    const std::string listen = fmt::format(
        "[listen.http]\naddress = \"127.0.0.1\"\nport = {}\nsocket = \"{}\"\n{}"
        "[[listen.http.token]]\nname = \"test\"\nfile = \"{}\"\nuser = {}\n",
        port_, socket(), GetParam() == Mode::system ? "mode = \"0666\"\n" : "", file,
        daemon_.user().uid);
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server") + listen});
  }

  std::string socket() const { return daemon_.directory().path("run/http.sock"); }
  std::string ask(const Wish& wish) const {
    return answer_to(connect_to(port_).get(), text_of(wish));
  }

  Daemon daemon_;
  std::uint16_t port_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Http, testing::Values(Mode::system, Mode::user), name_of_mode);

TEST_P(Http, ATokenReachesTheServersOfItsUser) {
  const std::string begun = ask({});
  EXPECT_THAT(begun, StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(body_of(begun)["result"].contains("serverInfo")) << begun;
  const std::string session = header_of(begun, "Mcp-Session-Id");
  ASSERT_EQ(session.size(), 64U);
  Wish list;
  list.more += "Mcp-Session-Id: " + session + "\r\n";
  list.body = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  EXPECT_TRUE(body_of(ask(list))["result"]["tools"].is_array());
}

TEST_P(Http, NobodyIsLetInWithoutTheTokenOrUnderAStrangersName) {
  EXPECT_THAT(ask({.more = ""}), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask({.more = "Authorization: Bearer " + std::string(40, 'x') + "\r\n"}),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(ask({.host = "rebound.example.com"}), StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(
      ask({.more = "Origin: https://evil.example.com\r\nAuthorization: Bearer " + token + "\r\n"}),
      StartsWith("HTTP/1.1 403 "));
}

TEST_P(Http, AnUnknownTokenIsInTheLogWithItsAddressAndNotWithItsBytes) {
  const std::string guess(40, 'x');
  EXPECT_THAT(ask({.more = "Authorization: Bearer " + guess + "\r\n"}),
              StartsWith("HTTP/1.1 401 "));
  daemon_.stop();
  EXPECT_THAT(daemon_.log(), HasSubstr("refused an unknown bearer token from 127.0.0.1"));
  EXPECT_THAT(daemon_.log(), Not(HasSubstr(guess)));
}

TEST_P(Http, TheSwitchIsToldAsTheSwitch) {
  const User admin = GetParam() == Mode::system ? User{0, 0, {}} : daemon_.user();
  const auto off = daemon_.command({"disable", "--reason", "incident 42"}, admin);
  ASSERT_EQ(off->wait().value_or(-1), 0) << off->errors().all();
  for (int i = 0; i < 3; ++i) {
    const Json error = body_of(ask({}))["error"];
    EXPECT_EQ(error["data"]["code"], "disabled") << error;
    EXPECT_THAT(error["message"].get<std::string>(), HasSubstr("incident 42"));
  }
}

TEST_P(Http, WhatIsTooLongIsRefused) {
  EXPECT_THAT(ask({.more = "X: " + std::string(20'000, 'x') + "\r\n"}),
              StartsWith("HTTP/1.1 431 "));
  const std::string huge =
      "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n";
  EXPECT_THAT(answer_to(connect_to(port_).get(), huge), StartsWith("HTTP/1.1 413 "));
}

TEST_P(Http, AUserOfTheUnixSocketIsWhoTheKernelSays) {
  Host host(socket(), daemon_.user());
  EXPECT_THAT(answer_to(host.socket(), text_of({.more = ""})), StartsWith("HTTP/1.1 200 "));
  if (GetParam() != Mode::system) return;
  Host stranger(socket(), bob);
  EXPECT_THAT(answer_to(stranger.socket(), text_of({})), StartsWith("HTTP/1.1 403 "))
      << "another's token is of no use there";
}

TEST_P(Http, DescriptorsOnTheUnixSocketEndTheConnection) {
  Host host(socket(), daemon_.user());
  const std::array<int, 1> descriptors{host.socket()};
  host.send_with(Json::object(), descriptors);
  EXPECT_TRUE(host.at_end());
}

TEST_P(Http, AHelperThatDiesComesBackWithoutItsSessions) {
  const std::string session = header_of(ask({}), "Mcp-Session-Id");
  const int helper = daemon_.processes_named("cellblock-http").at(0);
  ::kill(helper, SIGKILL);
  // The listening socket is the supervisor's too: whoever connects waits for the next helper.
  Wish list;
  list.more += "Mcp-Session-Id: " + session + "\r\n";
  list.body = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  EXPECT_THAT(ask(list), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(ask({}), StartsWith("HTTP/1.1 200 "));
}

}  // namespace
}  // namespace cellblock::harness
