#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "policy/encoding/sha256.h"
#include "supervisor/http/front.h"
#include "supervisor/http/refused_tokens.h"

namespace cellblock::http {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view modern_meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{})";

/// Records what is done; names are counted.
class Recorder : public HttpContext {
 public:
  BackendId open(const Caller& caller) override {
    callers.push_back(caller);
    return callers.size();
  }
  bool send(BackendId backend, std::span<const std::string_view> slices) override {
    std::string line;
    for (const std::string_view slice : slices) line += slice;
    lines[backend].push_back(line);
    return true;
  }
  void close(BackendId backend) override { closed.push_back(backend); }
  void reply(ExchangeId exchange, const Reply& reply) override { replies[exchange] = reply; }
  void begin_stream(ExchangeId exchange, const std::vector<Header>& /*headers*/) override {
    streams[exchange];
  }
  void stream(ExchangeId exchange, std::string_view bytes) override { streams[exchange] += bytes; }
  void end_stream(ExchangeId exchange) override { ended.push_back(exchange); }
  std::string random_name() override { return "name-" + std::to_string(++names); }

  std::vector<Caller> callers;
  std::map<BackendId, std::vector<std::string>> lines;
  std::vector<BackendId> closed;
  std::map<ExchangeId, Reply> replies;
  std::map<ExchangeId, std::string> streams;
  std::vector<ExchangeId> ended;
  int names = 0;
};

HttpListen listen_with_token() {
  HttpListen listen;
  listen.address = "127.0.0.1";
  listen.port = 8800;
  listen.max_sessions = 2;
  listen.tokens = {{sha256(std::string(32, 'a')), 1000, 1000, {}, "ci"},
                   {sha256(std::string(32, 'b')), 1001, 1001, {}, "other"}};
  listen.origins = {"https://app.example.org"};
  listen.hosts = {"mcp.example.org"};
  return listen;
}

Request post(std::string body) {
  return {Verb::post,
          "/mcp/files",
          {{"host", "localhost:8800"},
           {"authorization", "Bearer " + std::string(32, 'a')},
           {"content-type", "application/json"},
           {"accept", "application/json, text/event-stream"}},
          std::move(body)};
}

Request with(Request request, const std::string& name, const std::string& value) {
  std::erase_if(request.headers, [&](const Header& header) { return header.name == name; });
  request.headers.push_back({name, value});
  return request;
}

Request without(Request request, const std::string& name) {
  std::erase_if(request.headers, [&](const Header& header) { return header.name == name; });
  return request;
}

Request modern(const std::string& method, const std::string& params, const std::string& id = "1") {
  Request request = post(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method +
                         R"(","params":{)" + params + std::string(modern_meta) + "}}}");
  return with(with(request, "mcp-protocol-version", "2026-07-28"), "mcp-method", method);
}

class HttpFront : public testing::Test {
 protected:
  void ask(ExchangeId exchange, Request request, std::uint32_t token = 0) {
    front_.ask(exchange, {.kind = Caller::Kind::token, .token = token}, std::move(request));
  }
  void hear(BackendId backend, std::string line) {
    const std::size_t size = line.size();
    line.append(MessageScanner::padding, '\0');
    front_.backend_line(backend, std::string_view(line).substr(0, size));
  }
  void agree_to_attach(BackendId backend) {
    hear(backend, R"({"jsonrpc":"2.0","id":"cellblock-http-attach","result":{}})");
  }
  Json body_of(ExchangeId exchange) { return Json::parse(around_.replies.at(exchange).body); }
  unsigned status_of(ExchangeId exchange) { return around_.replies.at(exchange).status; }
  unsigned refusal_of(const Request& request) {
    const auto admission = front_.admit(request, std::nullopt);
    return admission.refusal ? admission.refusal->status : 0;
  }
  /// The name of the session.
  std::string begin_session(ExchangeId exchange) {
    ask(exchange, post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{}})"));
    const BackendId backend = around_.callers.size();
    agree_to_attach(backend);
    hear(backend, R"({"jsonrpc":"2.0","id":0,"result":{}})");
    for (const Header& header : around_.replies.at(exchange).headers) {
      if (header.name == "Mcp-Session-Id") return header.value;
    }
    return {};
  }

  Recorder around_;
  Front front_{around_, listen_with_token()};
};

TEST_F(HttpFront, WhoIsTurnedAwayForTooManyConnectionsIsAnsweredWith503) {
  const std::string refusal =
      R"({"jsonrpc":"2.0","error":{"code":-31006,"message":"Too many connections"}})";
  ask(1, post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{}})"));
  hear(1, refusal);
  EXPECT_EQ(status_of(1), 503U);
  EXPECT_EQ(body_of(1)["error"]["code"], -31006);
  ask(2, modern("tools/list", ""));
  hear(2, refusal);
  EXPECT_EQ(status_of(2), 503U);
  EXPECT_EQ(body_of(2)["error"]["code"], -31006);
}

TEST_F(HttpFront, ARequestIsJudgedByItsHeadersAlone) {
  const Request good = post("");
  const std::vector<std::tuple<const char*, Request, unsigned>> cases = {
      {"good", good, 0},
      {"ipv6 name", with(good, "host", "[::1]:8800"), 0},
      {"name without a port", with(good, "host", "LOCALHOST"), 0},
      {"declared host", with(good, "host", "mcp.example.org"), 0},
      {"rebound name", with(good, "host", "evil.example.com:8800"), 403},
      {"name that begins well", with(good, "host", "localhost.example.com:8800"), 403},
      {"forwarded port", with(good, "host", "localhost:1"), 0},
      {"no port", with(good, "host", "localhost:x"), 403},
      {"empty port", with(good, "host", "localhost:"), 403},
      {"too long a port", with(good, "host", "localhost:123456"), 403},
      {"own page over https", with(good, "origin", "https://localhost:8800"), 403},
      {"no host", without(good, "host"), 403},
      {"own origin", with(good, "origin", "http://localhost:8800"), 0},
      {"declared origin", with(good, "origin", "https://app.example.org"), 0},
      {"foreign origin", with(good, "origin", "https://evil.example.com"), 403},
      {"neighbour's port", with(good, "origin", "http://localhost:3000"), 403},
      {"null origin", with(good, "origin", "null"), 403},
      {"no token", without(good, "authorization"), 401},
      {"wrong token", with(good, "authorization", "Bearer " + std::string(32, 'x')), 401},
      {"basic", with(good, "authorization", "Basic " + std::string(32, 'a')), 401},
      {"scheme in capitals", with(good, "authorization", "BEARER " + std::string(32, 'a')), 0},
      {"text", with(good, "content-type", "text/plain"), 415},
      {"charset", with(good, "content-type", "application/json; charset=utf-8"), 0},
      {"json alone", with(good, "accept", "application/json"), 406},
      {"anything", with(good, "accept", "*/*"), 0},
  };
  for (const auto& [what, request, status] : cases) EXPECT_EQ(refusal_of(request), status) << what;
}

TEST_F(HttpFront, AWrongTokenIsToldFromNone) {
  const auto refusal = [&](const Request& request) {
    return front_.admit(request, std::nullopt).refusal.value_or(Reply{});
  };
  const Reply wrong = refusal(with(post(""), "authorization", "Bearer " + std::string(32, 'x')));
  EXPECT_EQ(wrong.status, 401U);
  EXPECT_THAT(wrong.headers, Contains(Field(&Header::value, HasSubstr("error=\"invalid_token\""))));
  const Reply none = refusal(without(post(""), "authorization"));
  EXPECT_EQ(none.status, 401U);
  EXPECT_THAT(none.headers, Not(Contains(Field(&Header::value, HasSubstr("error=")))));
}

TEST_F(HttpFront, ATokenWhoseUserMayUseNothingIsForbiddenInAllButName) {
  const Front idle(around_, listen_with_token(), {0});
  const auto refusal = idle.admit(post(""), std::nullopt).refusal;
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 403U);
  EXPECT_THAT(refusal->body, HasSubstr("no server's allow or rule names him"));
  EXPECT_THAT(refusal->body, HasSubstr("-31001"));
}

TEST_F(HttpFront, ARevokedTokenIsNoneAndItsSessionsEndAtOnce) {
  const std::string name = begin_session(1);
  const BackendId sessions = around_.callers.size();
  ask(2, with(post(R"({"jsonrpc":"2.0","id":7,"method":"tools/list"})"), "mcp-session-id", name));
  ask(3, modern("tools/list", ""));
  const BackendId links = around_.callers.size();
  HttpListen fewer = listen_with_token();
  fewer.tokens[0].revoked = true;
  front_.reconfigure(fewer, {});
  EXPECT_EQ(refusal_of(post("")), 401U);
  EXPECT_EQ(refusal_of(with(post(""), "authorization", "Bearer " + std::string(32, 'b'))), 0U);
  EXPECT_THAT(around_.closed, testing::UnorderedElementsAre(sessions, links));
  EXPECT_EQ(body_of(2)["error"]["message"], "This bearer token was revoked");
  EXPECT_EQ(body_of(3)["error"]["message"], "This bearer token was revoked");
}

TEST_F(HttpFront, SessionsOfOtherTokensOutliveARevocation) {
  begin_session(1);
  HttpListen fewer = listen_with_token();
  fewer.tokens[1].revoked = true;
  front_.reconfigure(fewer, {});
  EXPECT_THAT(around_.closed, IsEmpty());
}

TEST_F(HttpFront, WhatAReloadGivesATokenHolds) {
  front_.reconfigure(listen_with_token(), {0});
  EXPECT_EQ(refusal_of(post("")), 403U);
  HttpListen more = listen_with_token();
  more.tokens.push_back({sha256(std::string(32, 'c')), 1002, 1002, {}, "new"});
  front_.reconfigure(more, {});
  EXPECT_EQ(refusal_of(post("")), 0U);
  EXPECT_EQ(refusal_of(with(post(""), "authorization", "Bearer " + std::string(32, 'c'))), 0U);
}

TEST_F(HttpFront, AWrongHostIsRefusedBeforeTheTokenIsLookedAt) {
  EXPECT_EQ(refusal_of(without(with(post(""), "host", "evil.example.com"), "authorization")), 403U);
}

TEST_F(HttpFront, ADoubledHeaderIsRefused) {
  Request request = post("");
  request.headers.push_back({"host", "evil.example.com"});
  EXPECT_EQ(refusal_of(request), 400U);
}

TEST_F(HttpFront, OnlyTheEndpointAndItsServersArePaths) {
  for (const char* target : {"/mcp", "/mcp/files", "/mcp?x=1"}) {
    Request request = post("");
    request.target = target;
    EXPECT_EQ(refusal_of(request), 0U) << target;
  }
  for (const char* target : {"/", "/mcpfiles", "/mcp/", "/mcp/a/b", "/mcp/../x", "/mcp/UPPER"}) {
    Request request = post("");
    request.target = target;
    EXPECT_EQ(refusal_of(request), 404U) << target;
  }
}

TEST_F(HttpFront, AUnixPeerNeedsNoTokenAndNoName) {
  const Caller peer{.kind = Caller::Kind::peer, .peer = 7, .uid = 1000};
  const auto admission = front_.admit(without(without(post(""), "host"), "authorization"), peer);
  EXPECT_FALSE(admission.refusal);
  EXPECT_EQ(admission.caller.peer, 7U);
}

TEST_F(HttpFront, APageReachesTheUnixSocketOnlyUnderOneOfOurNames) {
  const Caller peer{.kind = Caller::Kind::peer, .peer = 7, .uid = 1000};
  const auto is_refused = [&](const std::string& host, const std::string& origin) {
    return front_.admit(with(with(post(""), "host", host), "origin", origin), peer)
        .refusal.has_value();
  };
  EXPECT_TRUE(is_refused("evil.example.com", "http://evil.example.com"));
  EXPECT_FALSE(is_refused("localhost:8800", "http://localhost:8800"));
  EXPECT_FALSE(is_refused("mcp.example.org", "https://mcp.example.org"));
  EXPECT_FALSE(is_refused("whatever", "https://app.example.org")) << "declared";
}

TEST_F(HttpFront, AnAllowedPageMayReadTheAnswer) {
  Request request = with(post(""), "origin", "https://app.example.org");
  request.verb = Verb::options;
  const auto admission = front_.admit(without(request, "authorization"), std::nullopt);
  ASSERT_TRUE(admission.refusal);
  EXPECT_EQ(admission.refusal->status, 204U);
  EXPECT_THAT(admission.refusal->headers,
              testing::Contains(Header{"Access-Control-Allow-Origin", "https://app.example.org"}));
}

TEST_F(HttpFront, ABodyThatIsNoMessageIsRefused) {
  ask(1, post("{"));
  EXPECT_EQ(status_of(1), 400U);
  EXPECT_EQ(body_of(1)["error"]["code"], -32700);
  ask(2, post(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"));
  EXPECT_EQ(body_of(2)["error"]["code"], -32600);
}

// --- 2025-03-26 to 2025-11-25 --------------------------------------------------------------------

TEST_F(HttpFront, InitializeBeginsASessionOnTheServerOfItsPath) {
  EXPECT_EQ(begin_session(1), "name-1");
  EXPECT_THAT(around_.lines[1][0], HasSubstr(R"("server":"files")"));
  EXPECT_THAT(around_.lines[1][1], HasSubstr("initialize"));
  EXPECT_EQ(status_of(1), 200U);
}

TEST_F(HttpFront, ASessionIsNeitherGuessedNorSharedNorTakenElsewhere) {
  const std::string name = begin_session(1);
  const Request ping = post(R"({"jsonrpc":"2.0","id":5,"method":"ping"})");
  ask(2, ping);
  EXPECT_EQ(status_of(2), 400U);
  ask(3, with(ping, "mcp-session-id", "name-2"));
  EXPECT_EQ(status_of(3), 404U);
  ask(4, with(ping, "mcp-session-id", name), 1);
  EXPECT_EQ(status_of(4), 404U) << "another token's";
  Request elsewhere = with(ping, "mcp-session-id", name);
  elsewhere.target = "/mcp/other";
  ask(5, elsewhere);
  EXPECT_EQ(status_of(5), 404U);
}

TEST_F(HttpFront, ARequestIsAnsweredAsJsonAndAsAStreamOnceSomethingComesBefore) {
  const std::string name = begin_session(1);
  const auto call = [&](ExchangeId exchange, const std::string& id) {
    ask(exchange,
        with(post(R"({"jsonrpc":"2.0","id":)" + id +
                  R"(,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"t)" +
                  id + R"("}}})"),
             "mcp-session-id", name));
  };
  call(2, "5");
  call(3, "6");
  hear(
      1,
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t5","progress":1}})");
  hear(1, R"({"jsonrpc":"2.0","id":6,"result":{"six":1}})");
  hear(1, R"({"jsonrpc":"2.0","id":5,"result":{"five":1}})");
  EXPECT_EQ(body_of(3)["result"]["six"], 1);
  EXPECT_THAT(around_.streams.at(2), HasSubstr("event: message\ndata: {"));
  EXPECT_THAT(around_.streams.at(2), HasSubstr("five"));
  EXPECT_THAT(around_.ended, ElementsAre(2U));
}

TEST_F(HttpFront, WhatAServerAsksGoesToTheYoungestRequestAndWhatChangedToTheGetStream) {
  const std::string name = begin_session(1);
  Request get = with(post(""), "mcp-session-id", name);
  get.verb = Verb::get;
  ask(2, get);
  ask(3, with(post(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x"}})"),
              "mcp-session-id", name));
  hear(1, R"({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}})");
  hear(1, R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_THAT(around_.streams.at(3), HasSubstr("elicitation/create"));
  EXPECT_THAT(around_.streams.at(2), HasSubstr("list_changed"));
  EXPECT_THAT(around_.streams.at(2), testing::Not(HasSubstr("elicitation")));
  ask(4, get);
  EXPECT_EQ(status_of(4), 409U);
}

TEST_F(HttpFront, WhatFindsNoStreamWaitsForTheNextGet) {
  const std::string name = begin_session(1);
  hear(1, R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  Request get = with(post(""), "mcp-session-id", name);
  get.verb = Verb::get;
  ask(2, get);
  EXPECT_THAT(around_.streams.at(2), HasSubstr("list_changed"));
}

TEST_F(HttpFront, NotificationsAndAnswersAreAccepted) {
  const std::string name = begin_session(1);
  ask(2, with(post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), "mcp-session-id",
              name));
  ask(3, with(post(R"({"jsonrpc":"2.0","id":1,"result":{}})"), "mcp-session-id", name));
  EXPECT_EQ(status_of(2), 202U);
  EXPECT_EQ(status_of(3), 202U);
  EXPECT_EQ(around_.lines[1].size(), 4U);
}

TEST_F(HttpFront, ACancelledRequestWaitsForNothing) {
  const std::string name = begin_session(1);
  const Request call =
      with(post(R"({"jsonrpc":"2.0","id":5,"method":"ping"})"), "mcp-session-id", name);
  ask(2, call);
  ask(3, with(post(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                   R"("params":{"requestId":5}})"),
              "mcp-session-id", name));
  EXPECT_EQ(status_of(3), 202U);
  EXPECT_THAT(around_.ended, ElementsAre(2U));
  hear(1, R"({"jsonrpc":"2.0","id":5,"result":{}})");
  EXPECT_FALSE(around_.replies.contains(2));
  EXPECT_THAT(around_.streams.at(2), testing::Not(HasSubstr("result")));
  ask(4, call);
  EXPECT_FALSE(around_.replies.contains(4)) << "the id is free again";
  ask(5, with(post(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                   R"("params":{"requestId":5}})"),
              "mcp-session-id", name));
  front_.tick(HttpListen{}.session_idle + std::chrono::milliseconds{1});
  EXPECT_THAT(around_.closed, ElementsAre(1U));
}

TEST_F(HttpFront, ARequestWhoseHostHasGoneKeepsNoSession) {
  const std::string name = begin_session(1);
  ask(2, with(post(R"({"jsonrpc":"2.0","id":5,"method":"ping"})"), "mcp-session-id", name));
  front_.exchange_closed(2);
  front_.tick(HttpListen{}.session_idle + std::chrono::milliseconds{1});
  EXPECT_THAT(around_.closed, ElementsAre(1U));
}

TEST_F(HttpFront, DeleteEndsASessionAndAnswersWhoWaits) {
  const std::string name = begin_session(1);
  ask(2, with(post(R"({"jsonrpc":"2.0","id":5,"method":"ping"})"), "mcp-session-id", name));
  Request end = with(post(""), "mcp-session-id", name);
  end.verb = Verb::del;
  ask(3, end);
  EXPECT_EQ(status_of(3), 204U);
  EXPECT_TRUE(body_of(2).contains("error"));
  EXPECT_THAT(around_.closed, ElementsAre(1U));
  ask(4, end);
  EXPECT_EQ(status_of(4), 404U);
}

TEST_F(HttpFront, AnIdleSessionIsEndedAndAListeningOneIsNot) {
  begin_session(1);
  const std::string listening = begin_session(2);
  Request get = with(post(""), "mcp-session-id", listening);
  get.verb = Verb::get;
  ask(3, get);
  front_.tick(HttpListen{}.session_idle + std::chrono::milliseconds{1});
  EXPECT_THAT(around_.closed, ElementsAre(1U));
}

TEST_F(HttpFront, AnIdentityHasOnlySoManySessions) {
  begin_session(1);
  begin_session(2);
  begin_session(3);
  EXPECT_EQ(status_of(3), 503U);
}

TEST_F(HttpFront, AnUnknownRevisionIsRefused) {
  ask(1, with(post(R"({"jsonrpc":"2.0","id":5,"method":"ping"})"), "mcp-protocol-version",
              "1999-01-01"));
  EXPECT_EQ(status_of(1), 400U);
  ask(2, with(post(R"({"jsonrpc":"2.0","id":5,"method":"ping"})"), "mcp-protocol-version",
              std::string(10'000, '\x01')));
  EXPECT_EQ(status_of(2), 400U);
  EXPECT_LT(around_.replies.at(2).body.size(), 1000U) << "it is not sent back six times as long";
}

TEST_F(HttpFront, ARefusedAttachAnswersInitializeWithItsCause) {
  ask(1, post(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{}})"));
  hear(1,
       R"({"jsonrpc":"2.0","id":"cellblock-http-attach","error":{"code":-31001,"message":"no"}})");
  EXPECT_EQ(body_of(1)["error"]["code"], -31001);
  EXPECT_EQ(body_of(1)["id"], 0);
  EXPECT_THAT(around_.closed, ElementsAre(1U));
}

// --- 2026-07-28 ----------------------------------------------------------------------------------

TEST_F(HttpFront, AMessageAsLongAsAServerTakesWaitsForItsConnection) {
  const std::string filler(17U << 20, 'x');
  ask(1, modern("ping", R"("a":")" + filler + R"(",)"));
  EXPECT_FALSE(around_.replies.contains(1));
  ask(2, modern("ping", R"("a":")" + filler + R"(",)"));
  EXPECT_EQ(status_of(2), 503U) << "but only one such";
}

TEST_F(HttpFront, TwoHostsOfOneIdentityNeverCollide) {
  ask(1, modern("ping", R"("a":1,)", R"("same")"));
  ask(2, modern("ping", R"("a":2,)", R"("same")"));
  agree_to_attach(1);
  ASSERT_EQ(around_.callers.size(), 1U) << "one connection for both";
  EXPECT_EQ(Json::parse(around_.lines[1][1])["id"], 1);
  EXPECT_EQ(Json::parse(around_.lines[1][2])["id"], 2);
  hear(1, R"({"jsonrpc":"2.0","id":2,"result":{"for":2}})");
  hear(1, R"({"jsonrpc":"2.0","id":1,"result":{"for":1}})");
  EXPECT_EQ(body_of(1), Json::parse(R"({"jsonrpc":"2.0","id":"same","result":{"for":1}})"));
  EXPECT_EQ(body_of(2)["result"]["for"], 2);
}

TEST_F(HttpFront, HeadersMustSayWhatTheBodySays) {
  const Request call = with(modern("tools/call", R"("name":"x",)"), "mcp-name", "x");
  const std::vector<std::pair<Request, int>> cases = {
      {without(call, "mcp-protocol-version"), -32020},
      {with(call, "mcp-protocol-version", "2025-11-25"), -32020},
      {without(call, "mcp-method"), -32020},
      {with(call, "mcp-method", "tools/list"), -32020},
      {without(call, "mcp-name"), -32020},
      {with(call, "mcp-name", "y"), -32020},
      {with(call, "mcp-name", "=?base64?!?="), -32020},
  };
  ExchangeId exchange = 0;
  for (const auto& [request, code] : cases) {
    ask(++exchange, request);
    EXPECT_EQ(status_of(exchange), 400U) << exchange;
    EXPECT_EQ(body_of(exchange)["error"]["code"], code) << exchange;
  }
  EXPECT_THAT(around_.callers, IsEmpty());
  ask(100, with(call, "mcp-name", "=?base64?eA==?="));
  EXPECT_EQ(around_.callers.size(), 1U);
}

TEST_F(HttpFront, AModernRequestWithoutItsMetaIsRefused) {
  Request request = with(post(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}})"),
                         "mcp-protocol-version", "2026-07-28");
  ask(1, with(request, "mcp-method", "tools/list"));
  EXPECT_EQ(status_of(1), 400U);
  EXPECT_EQ(body_of(1)["error"]["code"], -32602);
}

TEST_F(HttpFront, ErrorsOfTheRevisionHaveTheirStatus) {
  for (const auto& [code, status] :
       {std::pair{-32601, 404U}, {-32021, 400U}, {-32022, 400U}, {-32602, 200U}}) {
    EXPECT_EQ(status_of_error(R"({"code":)" + std::to_string(code) + "}"), status) << code;
  }
}

TEST_F(HttpFront, ProgressAndSubscriptionsGetTheHostsOwnNamesBack) {
  Request call = modern("tools/call", R"("name":"x",)", "7");
  call.body.replace(call.body.rfind("}}}"), 3, R"(,"progressToken":"mine"}}})");
  ask(1, with(call, "mcp-name", "x"));
  ask(2, modern("subscriptions/listen", "", R"("listen:0")"));
  agree_to_attach(1);
  EXPECT_EQ(Json::parse(around_.lines[1][1])["params"]["_meta"]["progressToken"], 1);
  hear(
      1,
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}})");
  hear(
      1,
      R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}})");
  EXPECT_THAT(around_.streams.at(1), HasSubstr(R"("progressToken":"mine")"));
  EXPECT_THAT(around_.streams.at(2),
              HasSubstr(R"("io.modelcontextprotocol/subscriptionId":"listen:0")"));
}

TEST_F(HttpFront, ClosingARequestCancelsIt) {
  ask(1, modern("ping", ""));
  agree_to_attach(1);
  front_.exchange_closed(1);
  const Json told = Json::parse(around_.lines[1].back());
  EXPECT_EQ(told["method"], "notifications/cancelled");
  EXPECT_EQ(told["params"]["requestId"], 1);
  hear(1, R"({"jsonrpc":"2.0","id":1,"result":{}})");
  EXPECT_FALSE(around_.replies.contains(1));
}

TEST_F(HttpFront, ALogMessageGoesToTheOnlyRequestThatCouldHaveCausedIt) {
  const auto log =
      R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})";
  const auto wanting = [&](const std::string& id) {
    Request request = modern("ping", "", id);
    request.body.replace(request.body.rfind("}}}"), 3,
                         R"(,"io.modelcontextprotocol/logLevel":"debug"}}})");
    return request;
  };
  ask(1, wanting("1"));
  ask(2, modern("ping", "", "2"));
  agree_to_attach(1);
  hear(1, log);
  EXPECT_THAT(around_.streams.at(1), HasSubstr("notifications/message"));
  ask(3, wanting("3"));
  const std::string before = around_.streams.at(1);
  hear(1, log);
  EXPECT_EQ(around_.streams.at(1), before) << "two could have caused it";
}

TEST_F(HttpFront, TheEndOfAConnectionAnswersEveryRequestOfIt) {
  ask(1, modern("ping", ""));
  front_.backend_ended(1);
  EXPECT_EQ(body_of(1)["error"]["code"], -31003);
  ask(2, modern("ping", ""));
  EXPECT_EQ(around_.callers.size(), 2U) << "the next one has a new connection";
}

TEST_F(HttpFront, AWaitThatIsLongBecomesAStream) {
  ask(1, modern("ping", ""));
  front_.tick(std::chrono::milliseconds{15'000});
  EXPECT_FALSE(around_.streams.contains(1));
  front_.tick(std::chrono::milliseconds{30'000});
  EXPECT_THAT(around_.streams.at(1), testing::StartsWith(":"));
}

TEST(RefusedTokensTest, OfAnAddressAreToldAFewTimesAndThenCounted) {
  using namespace std::chrono_literals;
  const gateway::Time now(1h);
  RefusedTokens tokens;
  std::vector<RefusedToken> told;
  for (int i = 0; i < 20; ++i) {
    for (RefusedToken& one : tokens.add("192.0.2.7", now)) told.push_back(std::move(one));
  }
  EXPECT_THAT(told, testing::SizeIs(RefusedAttempts::recorded_each));
  EXPECT_EQ(text_of(told.front()), "refused an unknown bearer token from 192.0.2.7");
  told = tokens.tick(now + RefusedTokens::span);
  ASSERT_THAT(told, testing::SizeIs(1));
  EXPECT_EQ(told[0].requests, 15U);
  EXPECT_EQ(text_of(told[0]), "refused 15 more unknown bearer tokens from 192.0.2.7");
}

}  // namespace
}  // namespace cellblock::http
