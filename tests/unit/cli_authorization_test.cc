#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "client/cli/add/added_files.h"
#include "client/cli/add/authorization.h"
#include "client/cli/add/browser_return.h"
#include "client/cli/add/remote_authorization.h"
#include "client/cli/import/read/input_json.h"
#include "client/connection/fd.h"

namespace cellblock::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// ---- what is kept ----

constexpr std::int64_t now = 1'795'780'000;

NamedTexts obtained(const std::string& tokens) {
  return {{"mcp-remote-v1/0a_client_info.json", R"({"client_id": "c"})"},
          {"mcp-remote-v1/0a_tokens.json", tokens}};
}

std::string mistake_in(const std::string& tokens) {
  const auto text = authorization_text(obtained(tokens), now, "r");
  return text ? "none" : text.error().text;
}

TEST(Authorization, HasItsTokensOnLinesOfTheirOwn) {
  const auto text = authorization_text(
      obtained(R"({"access_token": "hush-a", "refresh_token": "hush-r"})"), now, "r");
  ASSERT_TRUE(text.has_value()) << text.error().text;
  EXPECT_THAT(*text, StartsWith("1795780000-r\nhush-a\nhush-r\n{"));
}

TEST(Authorization, SaysWhenAndForWhatButNoToken) {
  const auto text = authorization_text(
      obtained(R"({"access_token": "hush-a", "refresh_token": "hush-r", "scope": "read \u001b[2J",
                   "expires_at": 1795783600000.5})"),
      now, "r");
  const auto read = text ? read_authorization(*text) : Result<Authorization>(fail("none"));
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_EQ(read->obtained, now);
  EXPECT_EQ(read->expires, now + 3600);
  EXPECT_TRUE(read->is_renewed);
  EXPECT_THAT(described(*read), HasSubstr("scopes: read"));
  EXPECT_THAT(described(*read), Not(HasSubstr("hush")));
  EXPECT_THAT(described(*read), Not(HasSubstr("\x1b")));
}

TEST(Authorization, WithoutATokenOrTooLongIsRefused) {
  EXPECT_THAT(mistake_in("{}"), HasSubstr("no token"));
  EXPECT_THAT(mistake_in("no JSON"), Not("none"));
  EXPECT_THAT(mistake_in(R"({"access_token": "a\nb"})"), HasSubstr("no token"));
  EXPECT_THAT(mistake_in(R"({"access_token": ")" + std::string(50'000, 'a') + "\"}"),
              HasSubstr("48 KiB"));
  EXPECT_FALSE(read_authorization("").has_value());
  EXPECT_FALSE(read_authorization("1-r\na\nb\n[]").has_value());
}

TEST(Authorization, ConsistsOfTwoKindsOfFiles) {
  EXPECT_TRUE(is_of_authorization("mcp-remote-v1/0a_tokens.json"));
  EXPECT_TRUE(is_of_authorization("mcp-remote-0.1.38/0a_client_info.json"));
  for (const char* other : {"0a_tokens.json", "mcp-remote-v1/0a_lock.json",
                            "mcp-remote-v1/x/0a_tokens.json", "other/0a_tokens.json"}) {
    EXPECT_FALSE(is_of_authorization(other)) << other;
  }
}

// ---- the browser ----

constexpr const char* page_url =
    "https://auth.example.org/authorize?client_id=c&state=a-b&redirect_uri=http%3A%2F%2Fx"
    "&code_challenge=d&code_challenge_method=S256";

ReturnPlace place() {
  const auto page = authorization_page(page_url, {.port = 3334, .path = "/oauth/callback"});
  return page ? page->back : ReturnPlace{};
}

TEST(BrowserReturn, IsTakenFromItsRequestAndFromAnAddressThatWasPasted) {
  const std::string answer = "/oauth/callback?code=x&state=a-b";
  EXPECT_EQ(answer_in_request("GET " + answer + " HTTP/1.1\r\nHost: localhost\r\n\r\n", place()),
            answer);
  EXPECT_EQ(answer_in_address(" http://localhost:3334" + answer + "\n", place()), answer);
  EXPECT_EQ(
      answer_in_address("http://localhost:3334/oauth/callback?error=denied&state=a-b", place()),
      "/oauth/callback?error=denied&state=a-b");
}

TEST(BrowserReturn, OfAnotherPageIsNoAnswer) {
  for (const char* target :
       {"/oauth/callback?code=x&state=other", "/oauth/callback?code=x", "/oauth/callback?state=a-b",
        "/oauth/callback", "/favicon.ico?code=x&state=a-b",
        "/oauth/callback?code=\x1b&state=a-b"}) {
    const auto head = std::string("GET ") + target + " HTTP/1.1\r\n\r\n";
    EXPECT_EQ(answer_in_request(head, place()), "") << target;
    EXPECT_EQ(answer_in_address(std::string("http://localhost:3334") + target, place()), "")
        << target;
  }
  EXPECT_EQ(answer_in_request("POST /oauth/callback?code=x&state=a-b HTTP/1.1\r\n", place()), "");
  EXPECT_EQ(answer_in_request("GET HTTP/1.1", place()), "");
  EXPECT_EQ(answer_in_request("", place()), "");
  EXPECT_EQ(answer_in_address("", place()), "");
}

TEST(AuthorizationPage, ThatNobodyShouldOpenIsRefused) {
  EXPECT_EQ(place().state, "a-b");
  for (const char* url : {"javascript:alert(1)", "file:///etc/passwd", "https://a/\x1b[2J", ""}) {
    EXPECT_FALSE(authorization_page(url, {.port = 3334, .path = "/x"}).has_value()) << url;
  }
  EXPECT_FALSE(authorization_page(page_url, {.port = 80, .path = "/x"}).has_value());
  EXPECT_FALSE(authorization_page(page_url, {.port = 3334, .path = "x"}).has_value());
}

TEST(AuthorizationPage, WithoutStateOrProofOfItsClientIsRefused) {
  const std::string begin = "https://auth.example.org/authorize?client_id=c";
  for (const char* rest : {"&state=a-b", "&code_challenge=d&code_challenge_method=S256",
                           "&state=a-b&code_challenge=d&code_challenge_method=plain",
                           "&state=&code_challenge=d&code_challenge_method=S256"}) {
    EXPECT_FALSE(authorization_page(begin + rest, {.port = 3334, .path = "/x"})) << rest;
  }
}

// ---- the port ----

int bound(const char* host, std::uint16_t port, bool shares_port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host, std::to_string(port).c_str(), &hints, &found) != 0) return -1;
  int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = shares_port ? 1 : 0;
  for (const int option : {SO_REUSEADDR, SO_REUSEPORT}) {
    static_cast<void>(::setsockopt(socket, SOL_SOCKET, option, &yes, sizeof yes));
  }
  const bool is_bound =
      ::bind(socket, found->ai_addr, found->ai_addrlen) == 0 && ::listen(socket, 1) == 0;
  ::freeaddrinfo(found);
  if (is_bound) return socket;
  static_cast<void>(::close(std::exchange(socket, -1)));
  return socket;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  static_cast<void>(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size));
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

TEST(ReturnListener, IsRefusedWhereAnotherProgramHasThePortOnEitherLoopback) {
  for (const char* host : {"127.0.0.1", "::1", "0.0.0.0", "::"}) {
    const client::OwnedFd other(bound(host, 0, true));
    if (!other.valid()) continue;  // a machine without IPv6
    const auto port = port_of(other.get());
    const auto listener = listen_for_browser(port);
    ASSERT_FALSE(listener) << host;
    EXPECT_THAT(listener.error().text,
                AllOf(HasSubstr(std::to_string(port)), HasSubstr("another port")));
  }
}

TEST(ReturnListener, LeavesThePortToNobodyElseOnceItListens) {
  std::uint16_t port = 0;
  {
    const client::OwnedFd chosen(bound("127.0.0.1", 0, false));
    port = port_of(chosen.get());
  }
  const auto listener = listen_for_browser(port);
  ASSERT_TRUE(listener) << listener.error().text;
  for (const char* host : {"127.0.0.1", "::1", "0.0.0.0", "::"}) {
    EXPECT_FALSE(client::OwnedFd(bound(host, port, true)).valid()) << host;
  }
}

// ---- its declaration ----

constexpr const char* declaration = R"(# Mine.
[server.far]
command = ["/usr/bin/node", "/opt/far/1/start.mjs", "/opt/far/1/proxy.js", "https://example.org/mcp"]
program = "/opt/far/1"
profile = "node"
network = "egress"
egress = { allow = ["example.org:443"] }
allow = { users = ["alice"], tools = ["*"] }
)";

TEST(AddedFile, GetsAndLosesASecretAndKeepsTheRest) {
  const auto with = with_secret(declaration, "far", authorization_variable, "/s/far.X");
  EXPECT_THAT(with, StartsWith(declaration));
  EXPECT_THAT(with, HasSubstr("[server.far.env_from_file]\nREMOTE_AUTHORIZATION = \"/s/far.X\"\n"));
  const auto more = with + "OTHER = \"/s/far.OTHER\"\n";
  EXPECT_EQ(with_secret(without_secret(more, authorization_variable), "far", authorization_variable,
                        "/s/far.X"),
            more);
  EXPECT_EQ(without_secret(declaration, authorization_variable), declaration);
}

TEST(DeclaredRemote, IsReadBackFromItsFile) {
  const auto proposal =
      declared_remote(with_secret(declaration, "far", authorization_variable, "/s/far.X"), "far");
  ASSERT_TRUE(proposal.has_value()) << proposal.error().text;
  EXPECT_EQ(proposal->command.size(), 4U);
  EXPECT_THAT(proposal->domains, testing::ElementsAre("example.org:443"));
  EXPECT_EQ(proposal->secrets.at(0).file, "/s/far.X");
  EXPECT_FALSE(declared_remote(declaration, "other").has_value());
  EXPECT_FALSE(declared_remote("[server.far]\ncommand = [\"a\"]\n", "far").has_value());
}

}  // namespace
}  // namespace cellblock::cli
