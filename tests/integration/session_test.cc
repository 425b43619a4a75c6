// What a host may rely on while it talks to a server: its own ids, one answer for each request,
// bounds that answer instead of hanging, and an end that ends everything.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Session : public testing::TestWithParam<Mode> {
 protected:
  Session() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
  }

  /// Serves "echo" and "recorder".
  void start(std::string_view more = "") {
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server", {}, more) +
                              server_of_build(daemon_, "recorder", "recording_server", {}, more)});
  }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Session,
                         testing::Values(Mode::system, Mode::user, Mode::user_with_subordinates),
                         name_of_mode);

// --- passing through -----------------------------------------------------------------------------

TEST_P(Session, CallsAToolOfTheLegacyEra) {
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "hello"}}), "hello");
}

TEST_P(Session, CallsAToolOfTheModernEra) {
  start();
  Host host = daemon_.connect();
  ASSERT_TRUE(host.attach("echo").contains("result"));
  const json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientInfo", {{"name", "t"}, {"version", "1"}}},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  EXPECT_TRUE(host.request("server/discover", {{"_meta", meta}}).contains("result"));
  const json answer = host.request(
      "tools/call", {{"name", "echo"}, {"arguments", {{"text", "hello"}}}, {"_meta", meta}});
  EXPECT_EQ(answer["result"]["resultType"], "complete") << answer.dump();
  EXPECT_EQ(answer["result"]["content"][0]["text"], "hello");
}

TEST_P(Session, GivesIdsBackAsTheyCame) {
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  for (const json& id : {json("a \"quoted\" id"), json(0), json(9007199254740991), json(-7)}) {
    host.send({{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}});
    EXPECT_EQ(host.receive(), (json{{"jsonrpc", "2.0"}, {"id", id}, {"result", json::object()}}));
  }
}

TEST_P(Session, HidesTheHostsIdsFromTheServer) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  host.send({{"jsonrpc", "2.0"}, {"id", "an id of the host"}, {"method", "ping"}});
  host.answer_to("an id of the host");
  EXPECT_THAT(host.call_for_text("seen"), testing::Not(HasSubstr("an id of the host")));
}

TEST_P(Session, DropsAnAnswerThatNobodyAskedFor) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  EXPECT_EQ(host.call_for_text("answer_unknown"), "done");
  EXPECT_TRUE(host.passed_over.empty());
}

TEST_P(Session, PassesProgressOnWithTheHostsToken) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  const json answer = host.request("tools/call", {{"name", "progress"},
                                                  {"arguments", {{"steps", 3}}},
                                                  {"_meta", {{"progressToken", "mine"}}}});
  EXPECT_EQ(answer["result"]["content"][0]["text"], "done");
  ASSERT_EQ(host.passed_over.size(), 3U);
  EXPECT_EQ(host.passed_over[2]["params"]["progressToken"], "mine");
  EXPECT_EQ(host.passed_over[2]["params"]["progress"], 3);
}

TEST_P(Session, TellsTheServerOfACancellationUnderItsOwnId) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  host.send({{"jsonrpc", "2.0"},
             {"id", "slow"},
             {"method", "tools/call"},
             {"params", {{"name", "hang"}, {"arguments", json::object()}}}});
  // One that is cancelled before it is recorded is never made. They are made in order.
  (void)host.call_for_text("seen");
  host.send({{"jsonrpc", "2.0"},
             {"method", "notifications/cancelled"},
             {"params", {{"requestId", "slow"}, {"reason", "no longer needed"}}}});
  const json seen = json::parse(host.call_for_text("seen"));
  const auto line_with = [&](std::string_view word) {
    for (const json& line : seen) {
      if (line.get<std::string>().find(word) != std::string::npos) {
        return json::parse(line.get<std::string>());
      }
    }
    return json();
  };
  const json cancelled = line_with("notifications/cancelled");
  ASSERT_FALSE(cancelled.is_null()) << seen.dump(1);
  EXPECT_EQ(cancelled["params"]["requestId"], line_with("hang")["id"]);
  EXPECT_EQ(cancelled["params"]["reason"], "no longer needed");
  EXPECT_TRUE(host.passed_over.empty()) << "a cancelled request has no answer";
}

TEST_P(Session, KeepsACallWithoutAnIdFromTheServer) {
  start(fmt::format("allow = {{ users = [{}], tools = [\"seen\"] }}", daemon_.user().uid));
  Host host = daemon_.connect();
  host.open_session("recorder");
  for (const auto* tool : {"hang", "seen"}) {
    host.send({{"jsonrpc", "2.0"}, {"method", "tools/call"}, {"params", {{"name", tool}}}});
  }
  // It saw initialize, initialized and this call.
  EXPECT_EQ(json::parse(host.call_for_text("seen")).size(), 3U);
  EXPECT_TRUE(host.passed_over.empty());
}

// --- lines that are not right --------------------------------------------------------------------

TEST_P(Session, AnswersEachMalformedLineAndGoesOn) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  struct Row {
    std::string_view line;
    int code;
    json id;
  };
  const Row rows[] = {
      {"{\"jsonrpc\":\"2.0\",\"id\":1", -32700, nullptr},
      {"not json at all", -32700, nullptr},
      {"[]", -32600, nullptr},
      {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, nullptr},
      {"\"text\"", -32600, nullptr},
      {R"({"jsonrpc":"1.0","id":101,"method":"ping"})", -32600, 101},
      {R"({"jsonrpc":"2.0","id":102,"method":"ping","extra":1})", -32600, 102},
      {R"({"jsonrpc":"2.0","id":103,"method":"ping","params":[1]})", -32600, 103},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600, nullptr},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, nullptr},
      {"{\"jsonrpc\":\"2.0\",\"id\":104,\"method\":\"\xff\"}", -32700, nullptr},
  };
  for (const Row& row : rows) {
    host.send_bytes(fmt::format("{}\n", row.line));
    const json answer = host.receive();
    ASSERT_TRUE(answer.contains("error")) << row.line << " -> " << answer.dump();
    EXPECT_EQ(answer["error"]["code"], row.code) << row.line << " -> " << answer.dump();
    EXPECT_EQ(answer.value("id", json()), row.id) << row.line;
    EXPECT_EQ(answer.contains("id"), !row.id.is_null()) << "an unreadable id is omitted";
  }
  // None of them reached the server: it saw initialize, initialized and this call.
  EXPECT_EQ(json::parse(host.call_for_text("seen")).size(), 3U);
}

TEST_P(Session, RefusesDuplicateKeysWithoutPassingThemOn) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  host.send_bytes(
      "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"seen\","
      "\"n\\u0061me\":\"exit\"}}\n");
  EXPECT_EQ(host.receive()["error"]["code"], -32600);
  EXPECT_EQ(json::parse(host.call_for_text("seen")).size(), 3U);
}

TEST_P(Session, AnswersALineOverItsBoundAndGoesOn) {
  start("lines = { from_host = \"64KiB\" }");
  Host host = daemon_.connect();
  host.open_session("recorder");
  host.send({{"jsonrpc", "2.0"},
             {"id", "big"},
             {"method", "tools/call"},
             {"params", {{"name", "hang"}, {"arguments", {{"text", std::string(200'000, 'x')}}}}}});
  const json answer = host.receive();
  EXPECT_EQ(answer["error"]["code"], -31005) << answer.dump();
  EXPECT_FALSE(answer.contains("id")) << "the id of such a line is not read";
  EXPECT_EQ(json::parse(host.call_for_text("seen")).size(), 3U);
}

TEST_P(Session, AnswersACallWhoseResultIsOverTheHostsBound) {
  start("lines = { to_host = \"64KiB\" }");
  Host host = daemon_.connect();
  host.open_session("recorder");
  const json answer = host.call("oversized", {{"bytes", 100'000}});
  EXPECT_EQ(answer["result"]["isError"], true) << answer.dump().substr(0, 300);
  EXPECT_EQ(answer["result"]["_meta"]["cellblock/error"]["code"], "too_large");
  EXPECT_EQ(host.call_for_text("oversized", {{"bytes", 3}}), "xxx");
}

TEST_P(Session, FailsTheCallWhoseAnswerWasOverTheServersBoundAndGoesOn) {
  start("lines = { from_server = \"64KiB\", to_host = \"64KiB\" }");
  Host host = daemon_.connect();
  host.open_session("recorder");
  const json answer = host.call("oversized", {{"bytes", 1'000'000}});
  EXPECT_EQ(answer["result"]["isError"], true) << answer.dump().substr(0, 300);
  EXPECT_EQ(answer["result"]["_meta"]["cellblock/error"]["code"], "too_large");
  EXPECT_EQ(host.call_for_text("oversized", {{"bytes", 3}}), "xxx");
}

TEST_P(Session, CarriesAResultOfTenMegabytesWhenTheBoundsAreRaised) {
  start("lines = { from_server = \"32MiB\", to_host = \"32MiB\" }");
  Host host = daemon_.connect();
  host.open_session("echo");
  const std::string text = host.call_for_text("payload", {{"bytes", 10'000'000}});
  EXPECT_EQ(text.size(), 10'000'000U);
  EXPECT_EQ(text.find_first_not_of('x'), std::string::npos);
}

// --- what a server may ask -----------------------------------------------------------------------

TEST_P(Session, RefusesAServersRequestThatIsNotDeclared) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder", {{"roots", json::object()}});
  const json said = json::parse(host.call_for_text("ask", {{"method", "roots/list"}}));
  EXPECT_EQ(said["error"]["code"], -32601) << said.dump();
  EXPECT_TRUE(host.passed_over.empty()) << "the host must not see the request";
}

TEST_P(Session, StripsTheCapabilitiesThatAreNotDeclared) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder", {{"roots", json::object()}, {"sampling", json::object()}});
  const json seen = json::parse(host.call_for_text("seen"));
  const json initialize = json::parse(seen[0].get<std::string>());
  EXPECT_EQ(initialize["params"]["capabilities"], json::object()) << initialize.dump();
}

TEST_P(Session, PassesADeclaredRequestOfTheServerOnAndItsAnswerBack) {
  start("client_features = [\"roots\"]");
  Host host = daemon_.connect();
  host.open_session("recorder", {{"roots", json::object()}});
  host.send({{"jsonrpc", "2.0"},
             {"id", "call"},
             {"method", "tools/call"},
             {"params", {{"name", "ask"}, {"arguments", {{"method", "roots/list"}}}}}});
  const json asked = host.receive();
  ASSERT_EQ(asked.value("method", ""), "roots/list") << asked.dump();
  host.send({{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", {{"roots", json::array()}}}});
  const json answer = host.answer_to("call");
  const json said = json::parse(answer["result"]["content"][0]["text"].get<std::string>());
  EXPECT_EQ(said["id"], "from-server-1") << "the server's own id";
  EXPECT_EQ(said["result"]["roots"], json::array());
}

// --- the end -------------------------------------------------------------------------------------

TEST_P(Session, EndsTheCellWhenTheHostDisconnects) {
  start();
  std::vector<int> cell;
  {
    Host host = daemon_.connect();
    host.open_session("recorder");
    cell = daemon_.processes_named("recording_server");
    ASSERT_EQ(cell.size(), 1U);
  }
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, cell[0], 0)));
  EXPECT_TRUE(!pidfd.valid() || wait_for_end(pidfd.get()));
}

TEST_P(Session, StopsACellOnRequestAndTellsItsHost) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  Host other = daemon_.connect();
  EXPECT_EQ(other.request("cellblock/stop", {{"server", "recorder"}})["result"]["stopped"], 1);
  EXPECT_TRUE(host.at_end());
}

TEST_P(Session, StopsAServerThatIgnoresEveryRequestToStop) {
  daemon_.start({.servers = server_of_build(
                     daemon_, "stubborn", "misbehaving_server", {"ignore-every-request-to-stop"},
                     "stop = { end_of_input = \"100ms\", terminate = \"100ms\" }")});
  std::vector<int> cell;
  {
    Host host = daemon_.connect();
    host.open_session("stubborn");
    cell = daemon_.processes_named("misbehaving_server");
    ASSERT_EQ(cell.size(), 1U);
  }
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, cell[0], 0)));
  EXPECT_TRUE(!pidfd.valid() || wait_for_end(pidfd.get()));
}

TEST_P(Session, KillsWhatAServerLeavesBehind) {
  daemon_.start(
      {.servers = server_of_build(daemon_, "parent", "misbehaving_server", {"leave-a-child"})});
  std::vector<Fd> pidfds;
  {
    Host host = daemon_.connect();
    host.open_session("parent");
    for (const int pid : daemon_.processes_named("misbehaving_server")) {
      pidfds.emplace_back(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    }
    ASSERT_EQ(pidfds.size(), 2U);
  }
  for (const Fd& pidfd : pidfds) EXPECT_TRUE(wait_for_end(pidfd.get()));
}

TEST_P(Session, RunsACellOfItsOwnForEachConnection) {
  start();
  Host first = daemon_.connect();
  Host second = daemon_.connect();
  first.open_session("recorder");
  second.open_session("recorder");
  EXPECT_EQ(daemon_.processes_named("recording_server").size(), 2U);
  EXPECT_EQ(json::parse(first.call_for_text("seen")).size(), 3U);
}

TEST_P(Session, DoesNotGiveTheServerASuspiciousParent) {
  start();
  Host host = daemon_.connect();
  host.open_session("recorder");
  const json self = json::parse(host.call_for_text("whoami"));
  EXPECT_GE(self["ppid"], 1000) << self.dump();
  EXPECT_NE(self["pid"], 1);
}

}  // namespace
}  // namespace cellblock::harness
