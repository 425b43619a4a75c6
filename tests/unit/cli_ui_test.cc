#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "client/cli/ui/access.h"
#include "client/cli/ui/http_message.h"
#include "client/cli/ui/login.h"
#include "client/cli/ui/peer_uid.h"
#include "client/cli/ui/routes.h"
#include "client/connection/fd.h"

namespace cellblock::cli::ui {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

constexpr std::uint16_t port = 8080;
const std::string digest(64, 'a');

HttpRequest request_of(Method method, const std::string& path, Fields headers = {}) {
  headers.emplace_back("host", "127.0.0.1:8080");
  return {.method = method, .path = path, .query = {}, .headers = std::move(headers), .body = {}};
}

unsigned refused(const HttpRequest& request, std::uint16_t at = port) {
  const auto reply = refuse_stranger(request, {.host = "127.0.0.1", .port = at});
  return reply ? reply->status : 0;
}

// ---- who may ask ----

TEST(UiAccess, TakesItsOwnHostAlone) {
  HttpRequest own{.method = Method::get, .path = "/", .headers = {{"host", "127.0.0.1:8080"}}};
  EXPECT_EQ(refused(own), 0U);
  EXPECT_THAT(refuse_stranger(own, {.host = "127.1.2.3", .port = 8080}),
              Optional(testing::Field(&HttpReply::status, 403U)));
  for (const auto* host : {"127.0.0.1", "127.0.0.1:8081", "127.0.0.1:80800", "127.0.0.2:8080",
                           "evil.example:8080", "127.0.0.1.evil.example:8080", "[::1]:8080", ""}) {
    HttpRequest request{.method = Method::get, .path = "/", .headers = {{"host", host}}};
    EXPECT_EQ(refused(request), 403U) << host;
  }
}

TEST(UiAccess, RefusesANameThatABrowserMayTakeForAnotherUsersServerOnTheOtherLoopback) {
  for (const auto* host : {"localhost:8080", "LOCALHOST:8080", "localhost.:8080"}) {
    HttpRequest request{.method = Method::get, .path = "/", .headers = {{"host", host}}};
    EXPECT_EQ(refused(request), 403U) << host;
    EXPECT_EQ(refused(request, 0), 403U) << host;
  }
}

TEST(UiAccess, RefusesARequestWithoutAHostOrWithTwo) {
  HttpRequest request{.method = Method::get, .path = "/"};
  EXPECT_EQ(refused(request), 403U);
  request.headers = {{"host", "127.0.0.1:8080"}, {"host", "127.0.0.1:8080"}};
  EXPECT_EQ(refused(request), 403U);
}

TEST(UiAccess, TakesAnyPortOfTheLoopbackAtASocketThatIsForwardedTo) {
  HttpRequest request{.method = Method::get, .path = "/", .headers = {{"host", "127.0.0.1:1"}}};
  EXPECT_EQ(refused(request, 0), 0U);
  request.headers = {{"host", "127.0.0.1:x"}};
  EXPECT_EQ(refused(request, 0), 403U);
}

TEST(UiAccess, TakesAPostFromItsOwnOriginAlone) {
  const auto post = [](Fields headers) {
    return refused(request_of(Method::post, "/api/stop", std::move(headers)));
  };
  EXPECT_EQ(post({{"origin", "http://127.0.0.1:8080"}}), 0U);
  EXPECT_EQ(post({{"origin", "http://127.0.0.1:8080"}, {"sec-fetch-site", "same-origin"}}), 0U);
  EXPECT_EQ(post({}), 403U);
  EXPECT_EQ(post({{"origin", "null"}}), 403U);
  EXPECT_EQ(post({{"origin", "http://localhost:8080"}}), 403U);
  EXPECT_EQ(post({{"origin", "http://127.0.0.1:8080"}, {"sec-fetch-site", "same-site"}}), 403U);
}

TEST(UiAccess, RefusesDataToOtherPagesAndOtherMethodsToAll) {
  EXPECT_EQ(refused(request_of(Method::get, "/api/events", {{"origin", "http://evil.example"}})),
            403U);
  EXPECT_EQ(refused(request_of(Method::get, "/api/events", {{"sec-fetch-site", "cross-site"}})),
            403U);
  EXPECT_EQ(refused(request_of(Method::get, "/", {{"sec-fetch-site", "cross-site"}})), 0U);
  EXPECT_EQ(refused(request_of(Method::other, "/")), 405U);
}

// ---- the login ----

const Login::Time start{std::chrono::hours(1000)};

Login fresh_login() { return {{.token = "token", .cookie = "cookie", .key = "key"}, start}; }

HttpRequest with_session(const std::string& cookies, const std::string& key) {
  return request_of(Method::get, "/api/events", {{"cookie", cookies}, {"x-cellblock-key", key}});
}

TEST(UiLogin, TakesItsTokenOnce) {
  auto login = fresh_login();
  EXPECT_EQ(login.exchange("token", start), LoginAnswer::taken);
  EXPECT_EQ(login.exchange("token", start), LoginAnswer::used);
}

TEST(UiLogin, TakesItForTenMinutes) {
  auto login = fresh_login();
  EXPECT_EQ(login.exchange("token", start + 11min), LoginAnswer::expired);
  EXPECT_EQ(fresh_login().exchange("token", start + 9min), LoginAnswer::taken);
}

TEST(UiLogin, LooksAtNoMoreThanTenWrongTokensAMinute) {
  auto login = fresh_login();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(login.exchange("wrong", start), LoginAnswer::wrong);
  EXPECT_EQ(login.exchange("token", start), LoginAnswer::too_many);
  EXPECT_EQ(login.exchange("token", start + 61s), LoginAnswer::taken);
}

TEST(UiLogin, AdmitsTheCookieAndTheKeyTogether) {
  auto login = fresh_login();
  const auto good = with_session("other=1; cellblock_ui=cookie", "key");
  EXPECT_FALSE(login.admits(good, start)) << "before the login";
  ASSERT_EQ(login.exchange("token", start), LoginAnswer::taken);
  EXPECT_TRUE(login.admits(good, start));
  EXPECT_FALSE(login.admits(with_session("cellblock_ui=cookie", ""), start));
  EXPECT_FALSE(login.admits(with_session("cellblock_ui=other", "key"), start));
  EXPECT_FALSE(login.admits(with_session("", "key"), start));
  EXPECT_FALSE(login.admits(with_session("cellblock_ui=", ""), start));
}

TEST(UiLogin, EndsASessionTwelveHoursAfterItsLastRequest) {
  auto login = fresh_login();
  ASSERT_EQ(login.exchange("token", start), LoginAnswer::taken);
  const auto request = with_session("cellblock_ui=cookie", "key");
  EXPECT_TRUE(login.admits(request, start + 11h));
  EXPECT_TRUE(login.admits(request, start + 22h));
  EXPECT_FALSE(login.admits(request, start + 35h));
}

TEST(UiLogin, HidesItsCookieFromScriptsAndOtherSites) {
  EXPECT_EQ(fresh_login().cookie_line(), "cellblock_ui=cookie; Path=/; HttpOnly; SameSite=Strict");
}

// ---- what is asked ----

std::vector<std::string> words_of(const HttpRequest& request) {
  const auto route = route_of(request);
  const auto* command = std::get_if<CommandRoute>(&route);
  return command != nullptr ? command->words : std::vector<std::string>{};
}

std::vector<std::string> words_of_get(const std::string& path, Fields query) {
  auto request = request_of(Method::get, path);
  request.query = std::move(query);
  return words_of(request);
}

std::vector<std::string> words_of_post(const std::string& path, const std::string& body) {
  auto request = request_of(Method::post, path);
  request.body = body;
  return words_of(request);
}

unsigned status_of(const HttpRequest& request) {
  const auto route = route_of(request);
  const auto* refusal = std::get_if<RefusedRoute>(&route);
  return refusal != nullptr ? refusal->status : 0;
}

TEST(UiRoutes, RunACommandWithTheWordsOfItsTable) {
  EXPECT_THAT(words_of_get("/api/explain", {{"server", "git"}}), ElementsAre("explain", "git"));
  EXPECT_THAT(words_of_get("/api/explain", {{"server", "git"}, {"uid", "7"}, {"tool", "push"}}),
              ElementsAre("explain", "7", "git", "push"));
  EXPECT_THAT(words_of_get("/api/logs", {{"server", "git"}, {"uid", "7"}}),
              ElementsAre("logs", "git", "--follow", "--lines", "200", "--for", "7"));
  EXPECT_THAT(words_of_get("/api/errors", {{"code", "early_crash"}}),
              ElementsAre("errors", "early_crash"));
  EXPECT_THAT(words_of_get("/api/audit", {{"server", "git"}, {"denied", "yes"}}),
              ElementsAre("audit", "--server=git", "--denied", "--lines", "200"));
}

TEST(UiRoutes, TakeNoValueForAnOption) {
  EXPECT_THAT(words_of_get("/api/explain", {{"server", "--config=/x"}}), ElementsAre());
  EXPECT_THAT(words_of_get("/api/explain", {{"server", "git"}, {"uid", "7"}, {"tool", "--as=x"}}),
              ElementsAre());
  EXPECT_THAT(words_of_get("/api/logs", {{"server", "git"}, {"uid", "--x"}}), ElementsAre());
  EXPECT_THAT(words_of_get("/api/audit", {{"server", "--log=/etc/shadow"}}),
              ElementsAre("audit", "--server=--log=/etc/shadow", "--lines", "200"));
  EXPECT_THAT(words_of_get("/api/audit", {{"lines", "-1"}}), ElementsAre());
}

TEST(UiRoutes, DecideAboutACallByItsDigestAlone) {
  const auto body = [](const std::string& word, const std::string& of) {
    return fmt::format(R"({{"id":"1000.3","word":"{}","digest":"{}"}})", word, of);
  };
  EXPECT_THAT(words_of_post("/api/decide", body("allow", digest)),
              ElementsAre("approve", "allow", "1000.3", "--digest", digest));
  EXPECT_THAT(words_of_post("/api/decide", body("allow", "")), ElementsAre());
  EXPECT_THAT(words_of_post("/api/decide", body("next", digest)), ElementsAre());
  EXPECT_THAT(words_of_post("/api/accept", R"({"server":"git","name":"push"})"), ElementsAre());
}

TEST(UiRoutes, ChangeNothingByAGet) {
  EXPECT_EQ(status_of(request_of(Method::get, "/api/stop")), 405U);
  EXPECT_EQ(status_of(request_of(Method::get, "/api/login")), 405U);
  EXPECT_EQ(status_of(request_of(Method::post, "/api/explain")), 405U);
}

TEST(UiRoutes, RefuseWhatIsNoObjectOfTexts) {
  for (const auto* body : {"[]", "{", R"({"server":1})", R"({"server":["git"]})"}) {
    auto request = request_of(Method::post, "/api/stop");
    request.body = body;
    EXPECT_EQ(status_of(request), 400U) << body;
  }
}

TEST(UiRoutes, KnowNoOtherCommands) {
  EXPECT_EQ(status_of(request_of(Method::get, "/api/call_tool")), 404U);
  EXPECT_EQ(status_of(request_of(Method::post, "/api/")), 404U);
}

// ---- HTTP ----

TEST(UiHttp, ReadsARequestThatComesInPieces) {
  RequestReader reader;
  const std::string bytes =
      "POST /api/stop?a=b%20c HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";
  for (const char byte : bytes.substr(0, bytes.size() - 1)) {
    ASSERT_EQ(reader.feed({&byte, 1}), RequestReader::State::unfinished);
  }
  ASSERT_EQ(reader.feed("}"), RequestReader::State::complete);
  const auto request = reader.request();
  EXPECT_EQ(request.method, Method::post);
  EXPECT_EQ(request.path, "/api/stop");
  EXPECT_EQ(request.parameter("a"), "b c");
  EXPECT_THAT(request.header("host"), Optional(std::string("x")));
  EXPECT_EQ(request.body, "{}");
}

TEST(UiHttp, RefusesALongHeadALongBodyAndAnotherVersion) {
  for (const auto& bytes :
       {"GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n\r\n",
        std::string("POST / HTTP/1.1\r\nContent-Length: 99999\r\n\r\n"),
        std::string("GET / HTTP/1.0\r\n\r\n"), std::string("no request\r\n\r\n")}) {
    RequestReader reader;
    EXPECT_EQ(reader.feed(bytes), RequestReader::State::broken) << bytes.substr(0, 40);
  }
}

TEST(UiHttp, RefusesARequestWithAMalformedQuery) {
  for (const std::string query : {"who=%zz", "who=%", "server=a&%f=b"}) {
    RequestReader reader;
    const auto bytes = "GET /api/audit?" + query + " HTTP/1.1\r\nHost: x\r\n\r\n";
    EXPECT_EQ(reader.feed(bytes), RequestReader::State::broken) << query;
  }
}

TEST(UiHttp, ReadsNoBrokenQuery) {
  EXPECT_EQ(read_query("a=%"), std::nullopt);
  EXPECT_EQ(read_query("a=%zz"), std::nullopt);
  EXPECT_THAT(read_query("a=1&b"), Optional(Fields{{"a", "1"}, {"b", ""}}));
}

TEST(UiHttp, LetsNothingForeignBeLoadedNorThePageBeEmbedded) {
  const auto bytes = bytes_of({.body = "{}"});
  EXPECT_THAT(bytes, HasSubstr("default-src 'none'"));
  EXPECT_THAT(bytes, HasSubstr("frame-ancestors 'none'"));
  EXPECT_THAT(bytes, HasSubstr("require-trusted-types-for 'script'"));
  EXPECT_THAT(bytes, Not(HasSubstr("unsafe")));
  EXPECT_THAT(bytes, Not(HasSubstr("Access-Control")));
}

// ---- the peer ----

constexpr std::string_view table =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout\n"
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1\n"
    "   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2\n"
    "   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 3\n"
    "   3: 0100007F:C351 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 "
    "0\n";

sockaddr_in end(std::uint16_t number, in_addr_t host = INADDR_LOOPBACK) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(number);
  address.sin_addr.s_addr = htonl(host);
  return address;
}

TEST(UiPeer, IsTheOwnerOfTheSocketAtTheOtherEnd) {
  EXPECT_THAT(owner_in(table, {.theirs = end(50000), .ours = end(8080)}), Optional(uid_t{1001}));
}

TEST(UiPeer, IsOfThisAddressAndNotOfTheSamePortsOfAnother) {
  constexpr in_addr_t other = INADDR_LOOPBACK + 1;
  EXPECT_EQ(owner_in(table, {.theirs = end(50000), .ours = end(8080, other)}), std::nullopt);
  EXPECT_EQ(owner_in(table, {.theirs = end(50000, other), .ours = end(8080)}), std::nullopt);
}

TEST(UiPeer, IsNobodyWhereItsSocketIsGone) {
  EXPECT_EQ(owner_in(table, {.theirs = end(50001), .ours = end(8080)}), std::nullopt);
  EXPECT_EQ(owner_in(table, {.theirs = end(50002), .ours = end(8080)}), std::nullopt);
  EXPECT_EQ(owner_in("", {.theirs = end(50000), .ours = end(8080)}), std::nullopt);
}

// A connection over that address of the loopback; the peer's end is this process's own.
struct Connected {
  explicit Connected(in_addr_t host) {
    const client::OwnedFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = end(0, host);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    peer = client::OwnedFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), generic, &size), 0);
    EXPECT_EQ(::connect(peer.get(), generic, size), 0);
    ours = client::OwnedFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  client::OwnedFd peer;
  client::OwnedFd ours;
};

TEST(UiPeer, IsWhoHasConnectedOverWhateverAddressOfTheLoopback) {
  for (const in_addr_t host : {INADDR_LOOPBACK, INADDR_LOOPBACK + 0x10203U}) {
    const Connected connected(host);
    EXPECT_THAT(peer_uid(connected.ours.get()), Optional(::geteuid()));
  }
}

TEST(UiPeer, IsNobodyOnceItHasClosed) {
  Connected connected(INADDR_LOOPBACK);
  connected.peer = client::OwnedFd();
  EXPECT_EQ(peer_uid(connected.ours.get()), std::nullopt);
}

}  // namespace
}  // namespace cellblock::cli::ui
