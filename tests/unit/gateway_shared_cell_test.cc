#include <gmock/gmock.h>

#include <string>

#include "tests/unit/session_rig.h"

// What two sessions of one user see of a cell that they share.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SharedCell : public SessionTest {
 protected:
  SharedCell() {
    config_.servers.front().cells = CellSharing::per_user;
    attach_and_run();
    beta_.lent = &cell();
    beta_says(
        R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"server":"files"}})");
  }

  Session& beta() {
    if (!second_) {
      second_.emplace(Peer{.session = 13, .uid = 1000, .gid = 1000, .pid = 2, .groups = {}},
                      SharedParts{config_, ids_, scanner_, sealer_, policy()}, beta_);
    }
    return *second_;
  }
  void alpha_says(std::string line) {
    host_says(std::move(line));
    cell().tell(now_);
  }
  void beta_says(std::string line) {
    const std::size_t size = line.size();
    line.resize(size + MessageScanner::padding);
    beta().host_line(std::string_view(line).substr(0, size), now_);
    cell().tell(now_);
  }
  void server_says(std::string line) {
    cell_says(std::move(line));
    cell().tell(now_);
  }
  void server_answers(const std::string& id, std::string_view result = "{}") {
    server_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + std::string(result) + "}");
  }
  void server_refuses(const std::string& id, int code) {
    server_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":)" + std::to_string(code) +
                R"(,"message":"no"}})");
  }

  static std::string request(std::string_view id, std::string_view method,
                             std::string_view params = "{}") {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":")" + std::string(method) +
           R"(","params":)" + std::string(params) + "}";
  }
  static std::string notification(std::string_view method, std::string_view params = "{}") {
    return R"({"jsonrpc":"2.0","method":")" + std::string(method) + R"(","params":)" +
           std::string(params) + "}";
  }
  static std::string initialize(std::string_view id) {
    return request(id, "initialize",
                   R"({"protocolVersion":"2025-11-25","capabilities":{"roots":{},"sampling":{}},)"
                   R"("clientInfo":{"name":"h","version":"1"}})");
  }
  static std::string read() {
    return request("7", "tools/call", R"({"name":"read_it","_meta":{"progressToken":"t"}})");
  }
  static std::string subscribe(std::string_view verb = "subscribe") {
    return request("4", "resources/" + std::string(verb), R"({"uri":"x://a"})");
  }

  Recorder& alpha_ = effects_;
  Recorder beta_{config_, scanner_};
  /// All that the server hears: what starts a cell is alpha's.
  const std::vector<std::string>& heard_ = effects_.cell;
  std::optional<Session> second_;

  std::string heard_id() const { return alpha_.last_to_cell()["id"].dump(); }
  std::string alpha_reads() {
    alpha_says(read());
    return heard_id();
  }
  std::string beta_reads() {
    beta_says(read());
    return heard_id();
  }
};

TEST_F(SharedCell, IsStartedOnce) {
  EXPECT_THAT(alpha_.did, ElementsAre("start_cell"));
  EXPECT_THAT(beta_.did, IsEmpty());
  EXPECT_THAT(beta_.control, ElementsAre(HasSubstr("\"cell\":\"37\"")));
  for (const Recorder* of : {&alpha_, &beta_}) {
    EXPECT_THAT(of->notes, Contains(std::pair{AuditKind::attach, AuditOutcome::ok}).Times(1));
  }
}

TEST_F(SharedCell, HearsOneHandshakeOfAClientThatCanDoNothing) {
  alpha_says(initialize("0"));
  beta_says(initialize("\"b\""));
  ASSERT_THAT(heard_, SizeIs(1));
  EXPECT_EQ(alpha_.last_to_cell()["params"]["capabilities"], Json::object());
  EXPECT_EQ(alpha_.last_to_cell()["params"]["clientInfo"]["name"], "cellblock");
  EXPECT_EQ(alpha_.last_to_cell()["params"]["protocolVersion"], "2025-11-25");
  server_answers(heard_id(), R"({"serverInfo":{"name":"s"}})");
  EXPECT_EQ(alpha_.last_to_host()["id"], 0);
  EXPECT_EQ(beta_.last_to_host()["id"], "b");
  EXPECT_EQ(alpha_.last_to_host()["result"], beta_.last_to_host()["result"]);
  alpha_says(notification("notifications/initialized"));
  beta_says(notification("notifications/initialized"));
  beta_says(notification("notifications/roots/list_changed"));
  EXPECT_THAT(heard_, SizeIs(2));
}

TEST_F(SharedCell, IsIntroducedInWordsThatNoSessionCanSpoil) {
  alpha_says(request("0", "initialize", R"({"protocolVersion":7,"clientInfo":[],"x":"\u0000"})"));
  const Json heard = alpha_.last_to_cell()["params"];
  EXPECT_EQ(heard["protocolVersion"], "2025-11-25") << heard;
  EXPECT_EQ(heard["clientInfo"]["name"], "cellblock") << heard;
  EXPECT_FALSE(heard.contains("x")) << heard;
}

TEST_F(SharedCell, AnswersALaterHandshakeFromTheFirst) {
  alpha_says(initialize("0"));
  server_answers(heard_id(), R"({"serverInfo":{"name":"s"}})");
  beta_says(initialize("5"));
  EXPECT_THAT(heard_, SizeIs(1));
  EXPECT_EQ(beta_.last_to_host()["id"], 5);
  EXPECT_EQ(beta_.last_to_host()["result"]["serverInfo"]["name"], "s");
}

TEST_F(SharedCell, FinishesAHandshakeWhoseSessionHasLeft) {
  alpha_says(initialize("0"));
  beta_says(initialize("5"));
  session().host_ended(HostEnd::gone, now_);
  server_answers(heard_id());
  EXPECT_EQ(beta_.last_to_host()["id"], 5);
  EXPECT_TRUE(beta_.last_to_host().contains("result"));
}

TEST_F(SharedCell, TakesNobodyNewWhenItRefusedItsHandshake) {
  config_.servers.front().era = ServerEra::legacy;
  alpha_says(initialize("0"));
  beta_says(initialize("5"));
  server_refuses(heard_id(), -32602);
  EXPECT_EQ(alpha_.last_to_host()["error"]["code"], -32602);
  EXPECT_EQ(beta_.last_to_host()["error"]["code"], -32602);
  EXPECT_FALSE(cell().takes_users());
}

TEST_F(SharedCell, KeepsApartIdsAndTokensThatAreTheSame) {
  const std::string of_alpha = alpha_reads();
  const std::string of_beta = beta_reads();
  ASSERT_NE(of_alpha, of_beta);
  server_says(
      notification("notifications/progress", R"({"progress":1,"progressToken":)" + of_beta + "}"));
  EXPECT_THAT(alpha_.host, IsEmpty());
  EXPECT_EQ(beta_.last_to_host()["params"]["progressToken"], "t");
  server_answers(of_beta, R"({"content":[],"whose":"b"})");
  server_answers(of_alpha, R"({"content":[],"whose":"a"})");
  EXPECT_EQ(beta_.last_to_host()["result"]["whose"], "b");
  EXPECT_EQ(alpha_.last_to_host()["result"]["whose"], "a");
  EXPECT_EQ(alpha_.last_to_host()["id"], 7);
  EXPECT_EQ(beta_.last_to_host()["id"], 7);
}

TEST_F(SharedCell, IsToldOfACancellationByItsOwnSessionAlone) {
  const std::string of_alpha = alpha_reads();
  const std::string of_beta = beta_reads();
  alpha_says(notification("notifications/cancelled", R"({"requestId":7})"));
  EXPECT_EQ(alpha_.last_to_cell()["params"]["requestId"].dump(), of_alpha);
  server_answers(of_beta, R"({"content":[]})");
  EXPECT_EQ(beta_.last_to_host()["id"], 7);
}

TEST_F(SharedCell, OutlivesASessionAndDropsWhatWasForIt) {
  const std::string of_alpha = alpha_reads();
  const std::string of_beta = beta_reads();
  session().host_ended(HostEnd::gone, now_);
  EXPECT_EQ(alpha_.last_to_cell()["method"], "notifications/cancelled");
  EXPECT_EQ(alpha_.last_to_cell()["params"]["requestId"].dump(), of_alpha);
  EXPECT_THAT(alpha_.did, ::testing::Not(Contains("close_cell_input")));
  alpha_.host.clear();
  server_answers(of_alpha, R"({"content":[]})");
  EXPECT_THAT(alpha_.host, IsEmpty());
  EXPECT_THAT(beta_.host, IsEmpty());
  server_answers(of_beta, R"({"content":[]})");
  EXPECT_EQ(beta_.last_to_host()["id"], 7);
}

TEST_F(SharedCell, IsKeptWithoutUsersUntilItsKeeperStopsIt) {
  session().host_ended(HostEnd::gone, now_);
  beta().host_ended(HostEnd::gone, now_);
  EXPECT_FALSE(cell().has_users());
  EXPECT_TRUE(cell().takes_users());
  server_says(request("1", "ping"));
  EXPECT_EQ(alpha_.last_to_cell()["result"], Json::object());
  cell().stop();
  EXPECT_THAT(alpha_.did, Contains("close_cell_input"));
  EXPECT_FALSE(cell().takes_users());
}

TEST_F(SharedCell, ThatEndsFailsTheCallsOfBoth) {
  alpha_reads();
  beta_reads();
  cell().ended({}, now_);
  for (const Recorder* of : {&alpha_, &beta_}) {
    EXPECT_EQ(of->last_to_host()["id"], 7);
    EXPECT_EQ(of->last_to_host()["result"]["isError"], true);
  }
  EXPECT_FALSE(cell().takes_users());
  cell().tell(now_);
}

TEST_F(SharedCell, LosesTheCallsOfBothWithAnAnswerThatIsTooLong) {
  alpha_reads();
  beta_reads();
  beta_says(subscribe());
  cell().line_too_long(20U << 20, now_);
  EXPECT_EQ(alpha_.last_to_host()["id"], 7);
  EXPECT_THAT(beta_.host, SizeIs(2));
}

TEST_F(SharedCell, IsSubscribedWhileSomebodyIs) {
  alpha_says(subscribe());
  beta_says(subscribe());
  ASSERT_THAT(heard_, SizeIs(1));
  EXPECT_THAT(beta_.host, IsEmpty());
  server_answers(heard_id());
  EXPECT_EQ(alpha_.last_to_host()["id"], 4);
  EXPECT_EQ(beta_.last_to_host()["id"], 4);
  alpha_says(subscribe("unsubscribe"));
  EXPECT_THAT(heard_, SizeIs(1));
  EXPECT_EQ(alpha_.last_to_host()["result"], Json::object());
  beta_says(subscribe("unsubscribe"));
  EXPECT_EQ(alpha_.last_to_cell()["method"], "resources/unsubscribe");
}

TEST_F(SharedCell, SaysToAllWhoWaitThatItDoesNotSubscribe) {
  alpha_says(subscribe());
  beta_says(subscribe());
  server_refuses(heard_id(), -32002);
  EXPECT_EQ(alpha_.last_to_host()["error"]["code"], -32002);
  EXPECT_EQ(beta_.last_to_host()["error"]["code"], -32002);
  beta_says(subscribe());
  EXPECT_THAT(heard_, SizeIs(2));
}

TEST_F(SharedCell, TellsOfUpdatesWhomeverSubscribed) {
  beta_says(subscribe());
  server_answers(heard_id());
  server_says(notification("notifications/resources/updated", R"({"uri":"x://a/part"})"));
  EXPECT_THAT(alpha_.host, IsEmpty());
  EXPECT_EQ(beta_.last_to_host()["params"]["uri"], "x://a/part");
}

TEST_F(SharedCell, IsUnsubscribedForASessionThatHasLeft) {
  alpha_says(subscribe());
  server_answers(heard_id());
  session().host_ended(HostEnd::gone, now_);
  EXPECT_EQ(alpha_.last_to_cell()["method"], "resources/unsubscribe");
  EXPECT_EQ(alpha_.last_to_cell()["params"]["uri"], "x://a");
  server_answers(heard_id());
  EXPECT_THAT(beta_.host, IsEmpty());
}

TEST_F(SharedCell, LogsAsMuchAsTheMostCuriousWantsAndToNoSession) {
  alpha_says(request("5", "logging/setLevel", R"({"level":"debug"})"));
  server_answers(heard_id());
  beta_says(request("5", "logging/setLevel", R"({"level":"error"})"));
  EXPECT_THAT(heard_, SizeIs(1));
  EXPECT_EQ(beta_.last_to_host()["result"], Json::object());
  alpha_says(request("6", "logging/setLevel", R"({"level":"critical"})"));
  EXPECT_EQ(alpha_.last_to_cell()["params"]["level"], "error");
  const auto before = beta_.host.size();
  server_says(notification("notifications/message", R"({"level":"info","data":"whose?"})"));
  EXPECT_THAT(alpha_.logs, ElementsAre(HasSubstr("whose?")));
  EXPECT_THAT(beta_.host, SizeIs(before));
}

TEST_F(SharedCell, IsRefusedItsQuestions) {
  server_says(request("\"q\"", "roots/list"));
  EXPECT_EQ(alpha_.last_to_cell()["error"]["code"], -32601);
  EXPECT_THAT(alpha_.notes, Contains(std::pair{AuditKind::refused, AuditOutcome::denied}));
  EXPECT_THAT(alpha_.host, IsEmpty());
  EXPECT_THAT(beta_.host, IsEmpty());
}

TEST_F(SharedCell, DoesNotShowTheTasksOfOthers) {
  beta_says(request("8", "tasks/list"));
  EXPECT_THAT(heard_, IsEmpty());
  EXPECT_EQ(beta_.last_to_host()["error"]["code"], -32601);
}

TEST_F(SharedCell, TellsAllWhoHaveSpokenOfAListThatChanged) {
  alpha_says(initialize("0"));
  server_answers(heard_id());
  server_says(notification("notifications/tools/list_changed"));
  EXPECT_EQ(alpha_.last_to_host()["method"], "notifications/tools/list_changed");
  EXPECT_THAT(beta_.host, IsEmpty());
  beta_says(initialize("5"));
  server_says(notification("notifications/tools/list_changed"));
  EXPECT_EQ(beta_.last_to_host()["method"], "notifications/tools/list_changed");
}

TEST_F(SharedCell, TellsOfATaskTheSessionWhoseItIs) {
  const std::string of_beta = beta_reads();
  alpha_reads();
  server_says(notification("notifications/tasks/status", R"({"taskId":"t1","status":"working"})"));
  EXPECT_THAT(beta_.host, IsEmpty());
  server_answers(of_beta, R"({"task":{"taskId":"t1","status":"working"}})");
  EXPECT_EQ(beta_.last_to_host()["method"], "notifications/tasks/status");
  EXPECT_THAT(beta_.host, SizeIs(2));
  server_says(
      notification("notifications/tasks/status", R"({"taskId":"t1","status":"completed"})"));
  EXPECT_EQ(beta_.last_to_host()["params"]["status"], "completed");
  EXPECT_THAT(alpha_.host, IsEmpty());
}

TEST_F(SharedCell, TakesOfASessionNoValueThatAnotherWasGiven) {
  beta_says(request("3", "resources/list"));
  server_answers(heard_id(), R"({"resources":[],"nextCursor":"page 2"})");
  const std::string cursor = beta_.last_to_host()["result"]["nextCursor"].dump();
  server_answers(beta_reads(), R"({"task":{"taskId":"t1","status":"working"}})");
  const std::string task = beta_.last_to_host()["result"]["task"]["taskId"].dump();
  const auto before = heard_.size();
  const std::string with_cursor = R"({"cursor":)" + cursor + "}";
  const std::string with_task = R"({"taskId":)" + task + "}";
  alpha_says(request("3", "resources/list", with_cursor));
  EXPECT_EQ(alpha_.last_to_host()["error"]["code"], -32602);
  alpha_says(request("4", "tasks/cancel", with_task));
  EXPECT_EQ(alpha_.last_to_host()["error"]["code"], -32602);
  EXPECT_THAT(heard_, SizeIs(before));
  beta_says(request("5", "resources/list", with_cursor));
  EXPECT_EQ(alpha_.last_to_cell()["params"]["cursor"], "page 2");
  beta_says(request("6", "tasks/cancel", with_task));
  EXPECT_EQ(alpha_.last_to_cell()["params"]["taskId"], "t1");
}

TEST_F(SharedCell, RefusesWhatWouldFillItAndServesTheOthers) {
  alpha_.room = 0;
  beta_says(subscribe());
  EXPECT_THAT(heard_, IsEmpty());
  EXPECT_EQ(beta_.last_to_host()["error"]["data"]["code"], "too_many") << beta_.last_to_host();
  alpha_.room = 1U << 20;
  beta_says(subscribe());
  EXPECT_THAT(heard_, SizeIs(1));
  EXPECT_TRUE(cell().takes_users());
}

// Its era routes are two users of the cell: what the first hears ends the session, and with it the
// other.
TEST_F(SharedCell, ThatEndsMayEndASessionOfBothErasThatIsLeaving) {
  alpha_.lent = &cell();
  config_.servers.front().era = ServerEra::legacy;
  alpha_says(initialize("0"));
  server_answers(heard_id(), R"({"protocolVersion":"2025-11-25","capabilities":{}})");
  alpha_says(request(
      "8", "tools/call",
      R"({"name":"read_it","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities":{}}})"));
  alpha_says(read());
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_THAT(cell().sessions(), ElementsAre(12, 13));
  cell().ended({}, now_);
  std::vector<int> answered;
  for (const std::string& line : alpha_.host) {
    const Json id = Json::parse(line)["id"];
    if (id.is_number()) answered.push_back(id.get<int>());
  }
  EXPECT_THAT(answered, ::testing::IsSupersetOf({7, 8}));
  EXPECT_THAT(alpha_.did, Contains("close_host"));
}

TEST_F(SharedCell, IsSpokenToInOneEra) {
  EXPECT_EQ(cell().agree_on(Era::modern), Era::modern);
  EXPECT_EQ(cell().agree_on(Era::legacy), Era::modern);
}

}  // namespace
}  // namespace cellblock::gateway::testing
