#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/catalogue/discovery.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char introduction[] =
    R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"hi","resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}})";
constexpr char initialized[] =
    R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"old","version":"2"},"instructions":"be kind"})";

struct Recorder final : DiscoveryEffects {
  void start_cell() override { did.emplace_back("start"); }
  void to_cell(std::string_view line) override { said.emplace_back(line); }
  void stop_cell() override { did.emplace_back("stop"); }
  void set_deadline(std::optional<Milliseconds> from_now) override { deadline = from_now; }
  CellWords words() const override { return {"; last words: \"hm\"", {"hm"}}; }
  void found(Discovered surveyed) override { result = std::move(surveyed); }
  void failed(const Failure& failed) override { failure = failed; }

  std::vector<std::string> did;
  std::vector<std::string> said;
  std::optional<Milliseconds> deadline;
  std::optional<Discovered> result;
  std::optional<Failure> failure;
};

class SurveyTest : public ::testing::Test {
 protected:
  void begin(ServerEra era = ServerEra::automatic, const SurveyStart& start = {}) {
    server.name = "git";
    server.era = era;
    survey.emplace(server, rules, start, effects);
    survey->begin(now);
  }
  /// The cell that has been told to stop is over, and the next one runs.
  void next_cell() {
    survey->cell_over(now);
    run();
  }
  void say_nothing() { wait(*effects.deadline); }
  void run() { survey->cell_running(now); }

  void hear(std::string line) {
    const std::size_t length = line.size();
    line.resize(length + MessageScanner::padding, ' ');
    const std::string_view text = std::string_view(line).substr(0, length);
    const auto message = scanner.scan(text);
    ASSERT_TRUE(message) << text;
    survey->from_cell(text, *message, now);
  }
  void answer(const std::string& result) {
    hear(R"({"jsonrpc":"2.0","id":)" + last_id() + R"(,"result":)" + result + "}");
  }
  void refuse(int code, const std::string& data = "{}") {
    hear(R"({"jsonrpc":"2.0","id":)" + last_id() + R"(,"error":{"code":)" + std::to_string(code) +
         R"(,"message":"no\u001b","data":)" + data + "}}");
  }
  std::string last_id() const {
    for (auto line = effects.said.rbegin(); line != effects.said.rend(); ++line) {
      const Json json = Json::parse(*line);
      if (json.contains("id") && json.contains("method")) return json["id"].dump();
    }
    return "0";
  }
  std::string last_method() const {
    return Json::parse(effects.said.back()).value("method", std::string());
  }
  void wait(Milliseconds time) {
    now += time;
    survey->deadline(now);
  }
  void become_legacy() {
    begin();
    run();
    refuse(-32601);
    next_cell();
  }

  Server server;
  CatalogueRules rules;
  Recorder effects;
  MessageScanner scanner;
  Time now{Milliseconds{1'000'000}};
  std::optional<Discovery> survey;
};

TEST_F(SurveyTest, AsksAModernServerInOneCellAndReadsItsLists) {
  begin();
  EXPECT_TRUE(effects.said.empty());
  run();
  const Json asked = Json::parse(effects.said.at(0));
  EXPECT_EQ(asked["method"], "server/discover");
  const Json& meta = asked["params"]["_meta"];
  EXPECT_EQ(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
  EXPECT_EQ(meta["io.modelcontextprotocol/clientInfo"]["name"], "cellblock");
  EXPECT_EQ(meta["io.modelcontextprotocol/clientCapabilities"], Json::object());
  answer(introduction);
  EXPECT_EQ(last_method(), "tools/list");
  EXPECT_TRUE(Json::parse(effects.said.back())["params"].contains("_meta"));
  answer(R"({"tools":[{"name":"a"}],"nextCursor":""})");
  EXPECT_EQ(Json::parse(effects.said.back())["params"]["cursor"], "");
  answer(R"({"tools":[{"name":"b"}]})");
  ASSERT_TRUE(effects.result);
  const Catalogue& found = effects.result->catalogue;
  EXPECT_EQ(found.era, Era::modern);
  EXPECT_EQ(found.protocol_version, "2026-07-28");
  EXPECT_EQ(found.server_info, R"({"name":"s","version":"1"})");
  EXPECT_EQ(found.capabilities, R"({"tools":{}})");
  EXPECT_EQ(found.instructions, "hi");
  EXPECT_EQ(found.list(ListKind::tools), R"([{"name":"a"},{"name":"b"}])");
  EXPECT_EQ(found.list(ListKind::prompts), "[]");
  EXPECT_THAT(effects.did, ElementsAre("start", "stop"));
  EXPECT_EQ(effects.deadline, std::nullopt);
}

TEST_F(SurveyTest, AsksALegacyServerInASecondCell) {
  begin();
  run();
  refuse(-32601);
  EXPECT_THAT(effects.did, ElementsAre("start", "stop"));
  survey->cell_over(now);
  EXPECT_THAT(effects.did, ElementsAre("start", "stop", "start"));
  run();
  EXPECT_EQ(last_method(), "initialize");
  EXPECT_EQ(Json::parse(effects.said.back())["params"]["capabilities"], Json::object());
  EXPECT_EQ(Json::parse(effects.said.back())["params"]["protocolVersion"], "2025-11-25");
  answer(initialized);
  EXPECT_EQ(Json::parse(effects.said.at(2))["method"], "notifications/initialized");
  for (const char* list : {"tools", "resources", "resourceTemplates", "prompts"}) {
    EXPECT_FALSE(Json::parse(effects.said.back())["params"].contains("_meta"));
    answer(std::string(R"({")") + list + R"(":[]})");
  }
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(effects.result->catalogue.era, Era::legacy);
  EXPECT_EQ(effects.result->catalogue.protocol_version, "2025-06-18");
  EXPECT_EQ(effects.result->catalogue.instructions, "be kind");
  EXPECT_THAT(effects.did, ElementsAre("start", "stop", "start", "stop"));
}

TEST_F(SurveyTest, TakesAnyErrorForLegacy) {
  for (const int code : {-32602, -32600, -32000, 0, 1}) {
    effects = {};
    begin();
    run();
    refuse(code);
    EXPECT_THAT(effects.did, ElementsAre("start", "stop")) << code;
    EXPECT_FALSE(effects.failure);
  }
}

TEST_F(SurveyTest, TakesSilenceForLegacyAfterTheProbesTime) {
  begin();
  now += Milliseconds{10'000};  // a slow start is no silence
  run();
  EXPECT_EQ(effects.deadline, rules.era_probe);
  wait(rules.era_probe);
  EXPECT_THAT(effects.did, ElementsAre("start", "stop"));
  survey->cell_over(now);
  run();
  EXPECT_EQ(last_method(), "initialize");
}

TEST_F(SurveyTest, TakesAnEndForLegacyOnlyWhenTheProgramRan) {
  begin();
  run();
  survey->cell_gone(plain_failure(FailureCode::server_failed, "exited"), now);
  EXPECT_FALSE(effects.failure);
  survey->cell_over(now);
  survey->cell_gone(plain_failure(FailureCode::server_failed, "could not start"), now);
  ASSERT_TRUE(effects.failure);
  EXPECT_EQ(effects.failure->message, "could not start");

  effects = {};
  begin();
  survey->cell_gone(plain_failure(FailureCode::too_many, "too many cells"), now);
  ASSERT_TRUE(effects.failure);
  EXPECT_EQ(effects.failure->code, FailureCode::too_many);
}

TEST_F(SurveyTest, TakesAnAnswerThatIsNoMessageForLegacy) {
  begin();
  run();
  survey->answer_lost(plain_failure(FailureCode::bad_answer, "garbage"), now);
  EXPECT_FALSE(effects.failure);
  EXPECT_THAT(effects.did, ElementsAre("start", "stop"));
}

TEST_F(SurveyTest, ReadsWhatAServerSpeaksFromItsRefusal) {
  begin();
  run();
  refuse(-32022, R"({"supported":["2025-11-25","2025-06-18"]})");
  EXPECT_FALSE(effects.failure);
  effects = {};
  begin();
  run();
  refuse(-32022, R"({"supported":["2027-01-01"]})");
  ASSERT_TRUE(effects.failure);
  EXPECT_THAT(effects.failure->message, HasSubstr("speaks no revision"));
  EXPECT_THAT(effects.failure->message, ::testing::Not(HasSubstr("\x1b")));
  effects = {};
  begin();
  run();
  refuse(-32022, R"({"supported":["2026-07-28"]})");
  ASSERT_TRUE(effects.failure);
}

TEST_F(SurveyTest, TakesADiscoverResultWithoutItsRevisionForLegacy) {
  for (const char* lie : {"{}", R"({"supportedVersions":"2026-07-28"})",
                          R"({"supportedVersions":["2025-11-25"]})", "[]", "null"}) {
    effects = {};
    begin();
    run();
    answer(lie);
    EXPECT_THAT(effects.did, ElementsAre("start", "stop")) << lie;
    EXPECT_FALSE(effects.failure);
  }
}

TEST_F(SurveyTest, AsksNoQuestionWhoseAnswerIsDeclared) {
  begin(ServerEra::legacy);
  run();
  EXPECT_EQ(last_method(), "initialize");
  effects = {};
  begin(ServerEra::modern);
  run();
  EXPECT_EQ(last_method(), "server/discover");
  EXPECT_EQ(effects.deadline, rules.survey);
}

TEST_F(SurveyTest, SaysThatTheDeclaredEraIsNotTheServers) {
  begin(ServerEra::modern);
  run();
  refuse(-32601);
  ASSERT_TRUE(effects.failure);
  EXPECT_EQ(effects.failure->code, FailureCode::server_failed);
  EXPECT_EQ(effects.failure->message,
            "server \"git\" refused server/discover (-32601), but [server.git] says era = "
            "\"modern\"; without it the era is found out");
  for (const int code : {-32601, -32022}) {
    effects = {};
    begin(ServerEra::legacy);
    run();
    refuse(code, R"({"supported":["2026-07-28"]})");
    ASSERT_TRUE(effects.failure);
    EXPECT_EQ(effects.failure->code, FailureCode::server_failed);
    EXPECT_THAT(effects.failure->message, HasSubstr("refused initialize (" + std::to_string(code) +
                                                    "), but [server.git] says era = \"legacy\""));
  }
}

TEST_F(SurveyTest, AsksAModernServerAgainThatWasTooSlowForTheProbe) {
  for (const int code : {-32022, -32601}) {
    effects = {};
    begin();
    run();
    say_nothing();
    next_cell();
    EXPECT_EQ(last_method(), "initialize");
    wait(Milliseconds{6'000});
    refuse(code, code == -32022 ? R"({"supported":["2026-07-28"]})" : "{}");
    EXPECT_FALSE(effects.failure) << effects.failure->message;
    next_cell();
    EXPECT_EQ(last_method(), "server/discover");
    EXPECT_EQ(effects.deadline, rules.survey) << "all the time there is";
    wait(Milliseconds{6'000});
    answer(introduction);
    answer(R"({"tools":[]})");
    ASSERT_TRUE(effects.result);
    EXPECT_EQ(effects.result->eras, (Eras{.legacy = Speaks::no, .modern = Speaks::yes}));
    EXPECT_THAT(effects.did, ElementsAre("start", "stop", "start", "stop", "start", "stop"));
  }
}

TEST_F(SurveyTest, AsksNoThirdTimeWhoRefusesBothBeginnings) {
  become_legacy();
  refuse(-32601);
  ASSERT_TRUE(effects.failure);
  EXPECT_THAT(effects.failure->message, HasSubstr("answered initialize with -32601"));

  effects = {};
  become_legacy();
  refuse(-32022, R"({"supported":["2026-07-28"]})");
  EXPECT_FALSE(effects.failure);
  next_cell();
  refuse(-32601);
  EXPECT_TRUE(effects.failure);
}

TEST_F(SurveyTest, IsPatientWithAServerThatSessionsKnowToBeModern) {
  begin(ServerEra::automatic, {.known = {.legacy = Speaks::no}});
  run();
  EXPECT_EQ(last_method(), "server/discover");
  EXPECT_EQ(effects.deadline, rules.survey);
  effects = {};
  begin(ServerEra::automatic, {.known = {.modern = Speaks::yes}});
  run();
  EXPECT_EQ(effects.deadline, rules.survey / 2);
}

TEST_F(SurveyTest, IsPatientWhenNobodyWaits) {
  begin(ServerEra::automatic, {.hurry = SurveyStart::Hurry::nobody_waits});
  run();
  EXPECT_EQ(effects.deadline, rules.survey / 2);
}

TEST_F(SurveyTest, TakesSilenceForNoProofThatAServerIsNotModern) {
  const auto list_all = [this] {
    answer(initialized);
    for (const char* list : {"tools", "resources", "resourceTemplates", "prompts"}) {
      answer(std::string(R"({")") + list + R"(":[]})");
    }
  };
  become_legacy();
  list_all();
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(effects.result->eras, (Eras{.legacy = Speaks::yes, .modern = Speaks::no}));

  effects = {};
  begin();
  run();
  say_nothing();
  next_cell();
  list_all();
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(effects.result->eras, (Eras{.legacy = Speaks::yes, .modern = Speaks::unknown}));

  effects = {};
  begin();
  run();
  survey->cell_gone(plain_failure(FailureCode::handshake_timeout, "start.handshake_timeout"), now);
  next_cell();
  list_all();
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(effects.result->eras.modern, Speaks::unknown);
}

TEST_F(SurveyTest, AnswersPingAndRefusesEverythingElse) {
  begin();
  run();
  hear(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
  EXPECT_EQ(effects.said.back(), R"({"jsonrpc":"2.0","id":"p","result":{}})");
  for (const char* method : {"roots/list", "sampling/createMessage", "elicitation/create"}) {
    hear(std::string(R"({"jsonrpc":"2.0","id":0,"method":")") + method + R"("})");
    EXPECT_EQ(Json::parse(effects.said.back())["error"]["code"], -32601) << method;
  }
}

TEST_F(SurveyTest, IgnoresAnswersThatNobodyAskedFor) {
  begin();
  run();
  hear(R"({"jsonrpc":"2.0","id":99,"result":{"supportedVersions":["2026-07-28"]}})");
  hear(R"({"jsonrpc":"2.0","id":"1","result":{"supportedVersions":["2026-07-28"]}})");
  hear(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_EQ(effects.said.size(), 1U);
}

TEST_F(SurveyTest, ComesToAnEndWithACursorThatNeverDoes) {
  begin();
  run();
  answer(introduction);
  int pages = 0;
  while (!effects.result && pages < 10'000) {
    const std::string page = std::to_string(++pages);
    answer(R"({"tools":[{"name":"t)" + page + R"("}],"nextCursor":")" + page + R"("})");
  }
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(pages, static_cast<int>(ListPages::max_pages));
  EXPECT_EQ(effects.result->findings.of(Finding::too_many), 1U);
}

TEST_F(SurveyTest, DoesNotFollowACursorThatComesBack) {
  begin();
  run();
  answer(introduction);
  answer(R"({"tools":[{"name":"a"}],"nextCursor":"x"})");
  answer(R"({"tools":[{"name":"b"}],"nextCursor":"x"})");
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(effects.result->catalogue.list(ListKind::tools), R"([{"name":"a"},{"name":"b"}])");
}

TEST_F(SurveyTest, RefusesMoreThanTheBytesOfTheConfiguration) {
  rules.max_bytes = 1000;
  begin();
  run();
  answer(introduction);
  answer(R"({"tools":[{"name":")" + std::string(1000, 'a') + R"("}]})");
  ASSERT_TRUE(effects.failure);
  EXPECT_THAT(effects.failure->message, HasSubstr("catalogue.max_bytes"));
}

TEST_F(SurveyTest, NeedsTheToolsAndDoesWithoutTheRest) {
  become_legacy();
  answer(initialized);
  answer(R"({"tools":[{"name":"a"}]})");
  for (int i = 0; i < 3; ++i) refuse(-32601);
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(effects.result->catalogue.list(ListKind::tools), R"([{"name":"a"}])");

  effects = {};
  become_legacy();
  answer(initialized);
  refuse(-32603);
  ASSERT_TRUE(effects.failure);
  EXPECT_THAT(effects.failure->message, HasSubstr("tools/list"));
}

TEST_F(SurveyTest, RefusesListsThatAreNone) {
  for (const char* lie : {"{}", R"({"tools":{}})", "7"}) {
    effects = {};
    begin();
    run();
    answer(introduction);
    answer(lie);
    EXPECT_TRUE(effects.failure) << lie;
  }
}

TEST_F(SurveyTest, RefusesALegacyRevisionThatIsNone) {
  become_legacy();
  answer(R"({"protocolVersion":"2099-01-01","capabilities":{}})");
  EXPECT_TRUE(effects.failure);
  EXPECT_THAT(effects.did, ElementsAre("start", "stop", "start", "stop"));
}

TEST_F(SurveyTest, EndsWhenItsTimeIsUpWhateverItWaitsFor) {
  become_legacy();
  answer(initialized);
  wait(rules.survey);
  ASSERT_TRUE(effects.failure);
  EXPECT_EQ(effects.failure->code, FailureCode::handshake_timeout);
  EXPECT_EQ(effects.failure->message,
            "what \"git\" offers could not be found out: it is running but had not answered "
            "tools/list after 30000 ms; catalogue.survey_timeout is 30000 ms; last words: \"hm\"");
  EXPECT_THAT(effects.failure->stderr_tail, ElementsAre("hm"));
  effects = {};
  begin();
  wait(rules.survey);
  ASSERT_TRUE(effects.failure);
  EXPECT_THAT(effects.failure->message, HasSubstr("was not running after 30000 ms"));
}

TEST_F(SurveyTest, CleansWhatItFinds) {
  begin();
  run();
  answer(R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"x)"
         "\u202e"
         R"("})");
  answer(R"({"tools":[{"name":"a","description":"\u001b[2J"},{"name":"a"},{"name":"\u200b"}]})");
  ASSERT_TRUE(effects.result);
  EXPECT_EQ(effects.result->catalogue.instructions, "x\\u{202e}");
  EXPECT_EQ(effects.result->catalogue.list(ListKind::tools),
            R"([{"name":"a","description":"\\u{1b}[2J"}])");
  EXPECT_EQ(effects.result->findings.of(Finding::made_visible), 2U);
  EXPECT_EQ(effects.result->findings.of(Finding::duplicate), 1U);
  EXPECT_EQ(effects.result->findings.of(Finding::bad_name), 1U);
}

TEST_F(SurveyTest, SaysNothingMoreWhenItIsOver) {
  begin();
  run();
  answer(R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  ASSERT_TRUE(effects.result);
  const std::size_t said = effects.said.size();
  hear(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  survey->cell_gone(plain_failure(FailureCode::server_failed, "exited"), now);
  survey->cell_over(now);
  wait(rules.survey);
  EXPECT_EQ(effects.said.size(), said);
  EXPECT_FALSE(effects.failure);
  EXPECT_THAT(effects.did, ElementsAre("start", "stop"));
}

}  // namespace
}  // namespace cellblock::gateway
