#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "tests/unit/session_rig.h"

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using wire::AuditKind;
using wire::AuditOutcome;

TEST_F(SessionTest, SaysThatItTookAWorkspace) {
  config_.servers[0].workspace.emplace();
  attach(R"(,"workspace":true)");
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  cell().started(37, now_);
  cell().running(now_);
  EXPECT_EQ(Json::parse(effects_.control.back())["result"]["workspace"], true);
}

TEST_F(SessionTest, StartsNothingForAWorkspaceThatNobodyDeclared) {
  attach(R"(,"workspace":true)");
  EXPECT_THAT(effects_.did, IsEmpty());
  EXPECT_EQ(Json::parse(effects_.control.back())["error"]["data"]["code"], "workspace_refused");
}

TEST_F(SessionTest, StartsNothingForAWorkspaceThatIsNoDirectory) {
  config_.servers[0].workspace.emplace();
  effects_.workspace = WorkspaceFound::unusable;
  attach(R"(,"workspace":true)");
  EXPECT_THAT(effects_.did, IsEmpty());
  EXPECT_EQ(Json::parse(effects_.control.back())["error"]["code"], -31012);
  // The connection is as before.
  attach();
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
}

TEST_F(SessionTest, DoesNotTakeTheEndOfAProbeForOneOfItsServer) {
  attach(R"(,"probe":true)");
  EXPECT_THAT(effects_.did, ElementsAre("start_probe"));
  cell().started(37, now_);
  cell().running(now_);
  cell().ended({.kind = EndKind::exited, .exit_code = 1}, now_);
  EXPECT_THAT(effects_.ends, IsEmpty());
}

TEST_F(SessionTest, TakesARefusedStartForNoCrash) {
  for (const auto refusal :
       {wire::StartRefusal::too_many_cells, wire::StartRefusal::too_many_cells_in_all,
        wire::StartRefusal::workspace_came_later, wire::StartRefusal::disabled,
        wire::StartRefusal::no_free_identity, wire::StartRefusal::workspace_refused,
        wire::StartRefusal::not_permitted, wire::StartRefusal::identity_not_mapped}) {
    effects_.notes.clear();
    attach();
    cell().refused(refusal, {}, now_);
    EXPECT_THAT(effects_.ends, IsEmpty());
    EXPECT_THAT(effects_.notes, ElementsAre(std::pair(AuditKind::attach, AuditOutcome::denied)));
  }
  EXPECT_EQ(Json::parse(effects_.control.back())["error"]["data"]["code"], "identity_not_mapped");
}

TEST_F(SessionTest, TakesAFailedSetUpForAnEnd) {
  attach();
  CellFacts facts;
  facts.kind = EndKind::setup_failed;
  cell().refused(wire::StartRefusal::setup_failed, facts, now_);
  EXPECT_EQ(effects_.ends.size(), 1U);
  EXPECT_THAT(effects_.notes, ElementsAre(std::pair(AuditKind::attach, AuditOutcome::ok),
                                          std::pair(AuditKind::cell_ended, AuditOutcome::error)));
}

TEST_F(SessionTest, LetsAProbeCallItsOwnToolAndNoOther) {
  attach(R"(,"probe":true)");
  EXPECT_THAT(effects_.did, ElementsAre("start_probe"));
  cell().started(37, now_);
  cell().running(now_);
  EXPECT_EQ(Json::parse(effects_.control.back())["result"]["probe"], true);
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run"}})");
  EXPECT_EQ(effects_.last_to_cell()["params"]["name"], "run");
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_x"}})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32602);
}

TEST_F(SessionTest, AnswersAttachOnlyOnceTheProgramRuns) {
  attach();
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  EXPECT_EQ(effects_.flow, HostFlow::held);
  cell().started(37, now_);
  EXPECT_THAT(effects_.control, IsEmpty());
  cell().running(now_);
  EXPECT_THAT(
      effects_.control,
      ElementsAre(
          R"({"jsonrpc":"2.0","id":1,"result":{"server":"files","session":"12","cell":"37"}})"));
  EXPECT_EQ(effects_.flow, HostFlow::flowing);
}

TEST_F(SessionTest, LabelsAreWrittenDownWhenTheAttachIsTaken) {
  const std::pair label(AuditKind::label, AuditOutcome::none);
  attach(R"(,"labels":{"org":"acme"})");
  EXPECT_THAT(effects_.notes, Not(Contains(label)));
  cell().started(37, now_);
  cell().running(now_);
  EXPECT_THAT(effects_.notes, Contains(label).Times(1));
  EXPECT_EQ(session().labels().size(), 1U);
}

TEST_F(SessionTest, LabelsOfARefusedAttachAreWrittenDownWithItAndForgotten) {
  attach(R"(,"labels":{"org":"acme"})");
  cell().refused(wire::StartRefusal::too_many_cells, {}, now_);
  EXPECT_THAT(effects_.notes, ElementsAre(std::pair(AuditKind::attach, AuditOutcome::denied),
                                          std::pair(AuditKind::label, AuditOutcome::none)));
  EXPECT_THAT(session().labels(), IsEmpty());
}

TEST_F(SessionTest, AStartThatIsWithheldIsARefusedAttach) {
  attach();
  Failure failure;
  failure.code = FailureCode::server_failed;
  failure.message = "server \"files\" failed once; it may start again in 1s";
  failure.retry_after = Milliseconds{1'000};
  cell().withheld(failure, now_);
  const Json error = Json::parse(effects_.control.back())["error"];
  EXPECT_EQ(error["message"], failure.message);
  EXPECT_EQ(error["data"]["retry_after_ms"], 1'000);
  EXPECT_THAT(effects_.notes, ElementsAre(std::pair(AuditKind::attach, AuditOutcome::denied)));
  EXPECT_THAT(effects_.ends, IsEmpty());
}

TEST_F(SessionTest, TheDirectoryOfARefusedAttachIsClosedAtOnce) {
  config_.servers[0].workspace.emplace();
  attach(R"(,"workspace":true)");
  EXPECT_TRUE(effects_.holds_workspace);
  cell().refused(wire::StartRefusal::workspace_refused, {}, now_);
  EXPECT_FALSE(effects_.holds_workspace);
  config_.servers[0].workspace.reset();
  attach(R"(,"workspace":true)");
  EXPECT_FALSE(effects_.holds_workspace);
}

TEST_F(SessionTest, AttachesOnce) {
  attach_and_run();
  attach();
  EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "invalid_request");
}

TEST_F(SessionTest, SpeaksWithAllServersIfNoneWasSelected) {
  host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_THAT(effects_.notes, IsEmpty());
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_EQ(effects_.last_to_host()["result"], Json::object());
  EXPECT_THAT(effects_.notes, ElementsAre(std::pair(AuditKind::attach, AuditOutcome::ok)));
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(SessionTest, AnswersAnAttachToAllServersWithoutNamingOne) {
  effects_.stdio = true;
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/attach","params":{"stdio":true}})");
  EXPECT_THAT(effects_.control,
              ElementsAre(R"({"jsonrpc":"2.0","id":1,"result":{"session":"12","stdio":true}})"));
}

TEST_F(SessionTest, StartsNothingOfAServerThatIsSwitchedOff) {
  config_.servers[0].enabled = false;
  attach();
  const Json error = Json::parse(effects_.control.back())["error"];
  EXPECT_EQ(error["code"], -31008);
  EXPECT_EQ(error["message"],
            "server \"files\" is switched off by its declaration (enabled = false)");
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(SessionTest, StartsNothingWhileSwitchedOffOrUnrecorded) {
  config_.enabled = false;
  attach();
  EXPECT_EQ(Json::parse(effects_.control.back())["error"]["code"], -31008);
  config_.enabled = true;
  effects_.audit = AuditState::broken;
  attach();
  EXPECT_EQ(Json::parse(effects_.control.back())["error"]["code"], -31007);
  EXPECT_THAT(effects_.did, IsEmpty());
}

TEST_F(SessionTest, ForbiddenToolsDoNotExist) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write"}})");
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_EQ(effects_.last_to_host()["error"],
            Json::parse(R"({"code":-32602,"message":"Unknown tool: write"})"));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call, AuditOutcome::denied)));
}

TEST_F(SessionTest, CarriesNoCallThatPosesAsANotification) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"write"}})");
  host_says(R"({"jsonrpc":"2.0","method":"tools\/call","params":{"name":"read_a"}})");
  host_says(R"({"jsonrpc":"2.0","method":"notifications","params":{}})");
  EXPECT_THAT(effects_.cell, IsEmpty());
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(session().traffic(0).stray_notifications, 3U);
  EXPECT_EQ(std::ranges::count(effects_.notes, std::pair(AuditKind::refused, AuditOutcome::denied)),
            3);
  host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(effects_.cell.size(), 1U);
}

TEST_F(SessionTest, CarriesNothingToTheHostThatOnlyPosesAsANotification) {
  config_.servers[0].client_features.sampling = true;
  attach_and_run();
  cell_says(R"({"jsonrpc":"2.0","method":"cellblock/ended","params":{"reason":"stopped"}})");
  cell_says(R"({"jsonrpc":"2.0","method":"sampling/createMessage","params":{}})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(session().traffic(0).stray_notifications, 2U);
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::refused, AuditOutcome::denied)));
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}})");
  EXPECT_EQ(effects_.host.size(), 1U);
}

TEST_F(SessionTest, ListsOnlyPermittedTools) {
  attach_and_run();
  const std::string id = ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})");
  cell_says(R"({"jsonrpc":"2.0","id":)" + id +
            R"(,"result":{"tools":[{"name":"write"},{"name":"read_a"},{"name":"rm"}]}})");
  EXPECT_EQ(effects_.host.back(),
            R"({"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"read_a"}]}})");
}

TEST_F(SessionTest, TranslatesACancellationAndDropsTheLateAnswer) {
  attach_and_run();
  const std::string id = ask(R"({"jsonrpc":"2.0","id":"x","method":"resources/list"})");
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}})");
  EXPECT_EQ(effects_.last_to_cell()["params"]["requestId"].dump(), id);
  cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(session().traffic(0).late_answers, 1U);
}

TEST_F(SessionTest, NeverCancelsInitialize) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}})");
  host_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}})");
  EXPECT_EQ(effects_.cell.size(), 1U);
}

TEST_F(SessionTest, StripsCapabilitiesThatTheServerMayNotUseInBothEras) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{"roots":{}}}})");
  EXPECT_EQ(effects_.last_to_cell()["params"]["capabilities"], Json::object());
  effects_.fake_catalogues.speaks.modern = Speaks::yes;
  host_says(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
            R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
            R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}})");
  cell().started(38, now_);
  cell().running(now_);
  EXPECT_EQ(
      effects_.last_to_cell()["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"],
      Json::object());
}

TEST_F(SessionTest, TranslatesProgressUntilTheAnswer) {
  attach_and_run();
  host_says(
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a","_meta":{"progressToken":"t"}}})");
  const Json request = effects_.last_to_cell();
  const std::string token = request["params"]["_meta"]["progressToken"].dump();
  EXPECT_NE(token, "\"t\"");
  const std::string note =
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + token +
      R"(,"progress":1}})";
  cell_says(note);
  EXPECT_EQ(effects_.last_to_host()["params"]["progressToken"], "t");
  cell_says(R"({"jsonrpc":"2.0","id":)" + request["id"].dump() + R"(,"result":{}})");
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  cell_says(note);
  EXPECT_EQ(effects_.host.size(), 2U);
}

TEST_F(SessionTest, RefusesASecondRequestWithAnIdInFlight) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -32600);
  EXPECT_EQ(effects_.cell.size(), 1U);
}

TEST_F(SessionTest, DropsAnswersThatNobodyAskedFor) {
  attach_and_run();
  cell_says(R"({"jsonrpc":"2.0","id":7,"result":{}})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(session().traffic(0).foreign_answers, 1U);
}

TEST_F(SessionTest, FailsTheCallWhoseAnswerBreaksTheRules) {
  attach_and_run();
  const std::string first = ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  ask(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  cell_says(R"({"jsonrpc":"2.0","extra":1,"id":)" + first + R"(,"result":{}})");
  ASSERT_EQ(effects_.host.size(), 1U);
  EXPECT_EQ(effects_.last_to_host()["id"], 2);
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -31011);
  EXPECT_EQ(cell().noise_lines(), 1U);
}

TEST_F(SessionTest, FailsAllCallsWhereNobodyCanTellWhoseAnswerWasBroken) {
  for (const std::string_view member : {R"("a":1,"a":2)", "\"a\":\"\xe9\""}) {
    SCOPED_TRACE(member);
    session_.reset();
    effects_.host.clear();
    attach_and_run();
    ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
    const std::string id = ask(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
    cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{)" + std::string(member) + "}}");
    ASSERT_EQ(effects_.host.size(), 2U);
    EXPECT_EQ(Json::parse(effects_.host[0])["result"]["_meta"]["cellblock/error"]["code"],
              "bad_answer");
    EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "bad_answer");
  }
}

TEST_F(SessionTest, FailsNoCallForALoggersJsonOrABrokenNotification) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell_says(R"({"level":30,"msg":"hello"})");
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/message","extra":1})");
  cell_says(R"({"jsonrpc":"2.0","id":7,"result":{},"extra":1})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(cell().noise_lines(), 3U);
}

TEST_F(SessionTest, AnswersARequestOfTheServerThatIsNotAllowed) {
  attach_and_run();
  cell_says(R"({"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{}})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_EQ(effects_.last_to_cell()["error"]["code"], -32601);
  EXPECT_EQ(effects_.last_to_cell()["id"], "s");
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::refused, AuditOutcome::denied)));
}

std::string input_required(const std::string& id, std::string_view requests) {
  return R"({"jsonrpc":"2.0","id":)" + id +
         R"(,"result":{"resultType":"input_required","inputRequests":)" + std::string(requests) +
         "}}";
}

constexpr std::string_view asks_for_roots_and_sampling =
    R"({"a":{"method":"roots/list"},"b":{"method":"sampling/createMessage","params":{}}})";

TEST_F(SessionTest, AToolCallFailsWhenItsAnswerAsksForWhatTheServerMayNotAsk) {
  config_.servers[0].client_features.roots = true;
  attach_and_run();
  const std::string id =
      ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
  cell_says(input_required(id, asks_for_roots_and_sampling));
  ASSERT_EQ(effects_.host.size(), 1U);
  const Json reply = effects_.last_to_host();
  EXPECT_EQ(reply["id"], 2);
  EXPECT_EQ(reply["result"]["isError"], true);
  EXPECT_FALSE(reply["result"].contains("inputRequests"));
  const std::string text = reply["result"]["content"][0]["text"];
  EXPECT_THAT(text, HasSubstr("files"));
  EXPECT_THAT(text, HasSubstr("sampling/createMessage"));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::refused, AuditOutcome::denied)));
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::call_ended, AuditOutcome::error)));
}

TEST_F(SessionTest, AnyOtherCallFailsAlikeAndSoDoesWhatIsNoRequest) {
  attach_and_run();
  for (const auto* requests : {R"({"a":{"method":"elicitation/create"}})", R"({"a":{}})", "[]",
                               R"({"a":{"method":7}})", R"({"a":"roots/list"})", "null"}) {
    const std::string id = ask(R"({"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{}})");
    cell_says(input_required(id, requests));
    EXPECT_EQ(effects_.last_to_host()["error"]["data"]["code"], "bad_answer") << requests;
  }
}

TEST_F(SessionTest, PassesAnAnswerThatAsksOnlyForWhatIsDeclared) {
  config_.servers[0].client_features.roots = true;
  config_.servers[0].client_features.sampling = true;
  attach_and_run();
  for (const auto requests : {asks_for_roots_and_sampling, std::string_view("{}")}) {
    const std::string id =
        ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
    cell_says(input_required(id, requests));
    EXPECT_EQ(effects_.last_to_host()["result"]["inputRequests"], Json::parse(requests));
  }
}

TEST_F(SessionTest, DropsANotificationThatAsksForWhatTheServerMayNotAsk) {
  attach_and_run();
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/tasks","params":{"inputRequests":)" +
            std::string(asks_for_roots_and_sampling) + "}}");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_THAT(effects_.notes, Contains(std::pair(AuditKind::refused, AuditOutcome::denied)));
}

TEST_F(SessionTest, NamesNoMoreThanTheBeginningOfAForbiddenMethod) {
  attach_and_run();
  const std::string id = ask(R"({"jsonrpc":"2.0","id":2,"method":"tasks/get"})");
  cell_says(input_required(id, R"({"a":{"method":")" + std::string(5000, 'x') + "\"}}"));
  EXPECT_LT(effects_.host.back().size(), 1000U);
}

TEST_F(SessionTest, PassesAnAllowedRequestOfTheServerAndItsAnswer) {
  config_.servers[0].client_features.roots = true;
  attach_and_run();
  cell_says(R"({"jsonrpc":"2.0","id":"s","method":"roots/list"})");
  const std::string ours = effects_.last_to_host()["id"].dump();
  EXPECT_NE(ours, "\"s\"");
  host_says(R"({"jsonrpc":"2.0","id":)" + ours + R"(,"result":{"roots":[]}})");
  EXPECT_EQ(effects_.cell.back(), R"({"jsonrpc":"2.0","id":"s","result":{"roots":[]}})");
  host_says(R"({"jsonrpc":"2.0","id":)" + ours + R"(,"result":{"roots":[]}})");
  EXPECT_EQ(effects_.cell.size(), 1U);
}

TEST_F(SessionTest, GivesAListenStreamItsHostsIdBack) {
  attach_and_run();
  const std::string id = ask(R"({"jsonrpc":"2.0","id":"l","method":"subscriptions/listen"})");
  const std::string meta = R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}}";
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":)" + meta +
            "}");
  EXPECT_EQ(effects_.last_to_host()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            "l");
  cell_says(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
            "}}");
  EXPECT_EQ(effects_.last_to_host()["params"]["requestId"], "l");
}

TEST_F(SessionTest, TheHandshakeIsTimedFromTheFirstRequestOn) {
  attach_and_run();
  EXPECT_FALSE(effects_.deadline);
  const std::string id = ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(effects_.deadline, config_.servers[0].timeouts.handshake);
  cell_says(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})");
  EXPECT_FALSE(effects_.deadline);
  EXPECT_EQ(cell().state(), CellState::ready);
}

TEST_F(SessionTest, AnExitThatShowsAsClosedOutputFirstIsAnExit) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell().output_closed();
  EXPECT_THAT(effects_.did, Not(Contains("kill_cell")));
  CellFacts facts;
  facts.kind = EndKind::exited;
  facts.exit_code = 3;
  cell().ended(facts, now_);
  EXPECT_EQ(effects_.ends.back().verdict, "early_crash");
}

TEST_F(SessionTest, TheFirstCauseWins) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  cell().deadline(now_);
  cell().output_closed();
  CellFacts facts;
  facts.kind = EndKind::signalled;
  facts.signal = SIGKILL;
  cell().ended(facts, now_);
  EXPECT_EQ(effects_.ends.back().code, FailureCode::handshake_timeout);
}

TEST_F(SessionTest, OutputThatClosesBeforeTheNewsOfExecIsAFaultAfterIt) {
  attach();
  cell().started(37, now_);
  cell().output_closed();
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  cell().running(now_);
  EXPECT_EQ(effects_.deadline, ServerCell::exit_patience);
  cell().deadline(now_);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "kill_cell"));
}

TEST_F(SessionTest, AToolCallHearsOfACrashAsAResult) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_a"}})");
  cell().ended({}, now_);
  EXPECT_EQ(effects_.last_to_host()["result"]["isError"], true);
  EXPECT_EQ(effects_.deadline, Milliseconds{0});
  host_says(R"({"jsonrpc":"2.0","id":3,"method":"ping"})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -31003);
  session().deadline(now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, ANotificationAloneGetsNoAnswerFromADeadCell) {
  attach_and_run();
  cell().ended({}, now_);
  EXPECT_EQ(effects_.deadline, config_.servers[0].timeouts.handshake);
  host_says(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_THAT(effects_.host, IsEmpty());
  EXPECT_NE(effects_.deadline, Milliseconds{0});
}

TEST_F(SessionTest, AHostThatLeavesWhileTheCellIsAskedForAbandonsIt) {
  attach();
  session().host_ended(HostEnd::gone, now_);
  EXPECT_FALSE(cell().is_over());
  cell().started(37, now_);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_host", "withdraw_start", "kill_cell"));
  cell().ended({}, now_);
  EXPECT_TRUE(session().is_over() && cell().is_over());
}

TEST_F(SessionTest, WaitsForAnswersAfterTheEndOfInputButNotForEver) {
  attach_and_run();
  ask(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell"));
  session().deadline(now_);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_host", "close_cell_input"));
  EXPECT_EQ(effects_.last_to_cell()["method"], "notifications/cancelled");
  cell().deadline(now_);
  cell().deadline(now_);
  EXPECT_THAT(effects_.did, ElementsAre("start_cell", "close_host", "close_cell_input",
                                        "terminate_cell", "kill_cell"));
}

constexpr auto status = R"({"jsonrpc":"2.0","id":7,"method":"cellblock/status"})";

TEST_F(SessionTest, WaitsAfterTheEndOfInputForWhatItWasAskedItself) {
  effects_.holds_control = true;
  host_says(status);
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_FALSE(session().is_over());
  effects_.held_control.at(0)("{}", now_);
  EXPECT_EQ(effects_.last_to_host()["id"], 7);
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, DoesNotWaitForWhatItWasAskedItselfForEver) {
  effects_.holds_control = true;
  host_says(status);
  session().host_ended(HostEnd::end_of_input, now_);
  session().deadline(now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, WaitsForNoAnswerThatNobodyReads) {
  effects_.holds_control = true;
  host_says(status);
  session().host_ended(HostEnd::gone, now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, WithACellWaitsAfterTheEndOfInputForWhatItWasAskedItself) {
  attach_and_run();
  effects_.holds_control = true;
  host_says(status);
  session().host_ended(HostEnd::end_of_input, now_);
  EXPECT_FALSE(session().is_over());
  effects_.held_control.at(0)("{}", now_);
  EXPECT_TRUE(session().is_over());
}

TEST_F(SessionTest, HoldsALineToTheBoundOfItsServer) {
  attach_and_run();
  host_says(R"({"jsonrpc":"2.0","id":2,"method":"x","params":{"a":")" + std::string(2000, 'x') +
            R"("}})");
  EXPECT_EQ(effects_.last_to_host()["error"]["code"], -31005);
  EXPECT_THAT(effects_.cell, IsEmpty());
}

TEST_F(SessionTest, WithHandedStdioTheEndIsToldOnTheSocket) {
  effects_.stdio = true;
  attach(R"(,"stdio":true)");
  cell().started(37, now_);
  cell().running(now_);
  session().stop(Session::StopReason::shutting_down, now_);
  const Json ended = Json::parse(effects_.control.back());
  EXPECT_EQ(ended["method"], "cellblock/ended");
  EXPECT_EQ(ended["params"]["reason"], "shutting_down");
}

}  // namespace
}  // namespace cellblock::gateway::testing
