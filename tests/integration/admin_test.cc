// What administrators may: look after users' gateways by doors of their own, say yes to calls that
// wait, and switch everything off.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const User root{0, 0, {}};

struct Said {
  int exit = -1;
  std::string text;  ///< stdout, then stderr
};

class Admin : public testing::TestWithParam<Mode> {
 protected:
  Admin() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
  }

  bool is_system() const { return GetParam() == Mode::system; }
  /// Rootless there is nobody else.
  User admin() const { return is_system() ? root : daemon_.user(); }
  std::string whose() const { return std::to_string(daemon_.user().uid); }

  Said run(std::vector<std::string> arguments, const User& user) const {
    const auto process = daemon_.command(std::move(arguments), user);
    const int status = process->wait().value_or(-1);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            process->output().all() + process->errors().all()};
  }

  void start(std::string_view more = "", std::string_view daemon_extra = "") {
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server", {}, more),
                   .daemon_extra = std::string(daemon_extra)});
  }

  /// Asks about every call of "echo".
  void start_asking() {
    start(fmt::format(
        "\n[[server.echo.rule]]\neffect = \"ask\"\nusers = [{}]\ntools = [\"echo\"]\n", whose()));
  }

  json wait_for_a_call() const {
    for (;;) {
      const Said said = run({"--json", "approve"}, admin());
      EXPECT_EQ(said.exit, 0) << said.text;
      if (said.exit != 0) return {};
      json calls = json::parse(said.text)["approvals"];
      if (!calls.empty()) return calls[0];
    }
  }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Admin, testing::Values(Mode::system, Mode::user), name_of_mode);

TEST_P(Admin, SeesTheServersOfAUser) {
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  const Said one = run({"status", "--for", whose()}, admin());
  EXPECT_EQ(one.exit, 0) << one.text;
  EXPECT_THAT(one.text, HasSubstr("echo"));
  const Said all = run({"status", "--all"}, admin());
  EXPECT_EQ(all.exit, 0) << all.text;
  EXPECT_THAT(all.text, HasSubstr("uid " + whose()));
  EXPECT_THAT(all.text, HasSubstr("echo"));
}

TEST_P(Admin, SeesEveryDeclaredServerBeforeAnybodyIsConnected) {
  if (!is_system()) GTEST_SKIP() << "rootless there is one user, whose status it is";
  start("", "admins = [64102]");
  for (const User& user : {root, bob}) {
    const Said nobody = run({"status"}, user);
    EXPECT_EQ(nobody.exit, 0) << nobody.text;
    EXPECT_THAT(nobody.text, AllOf(HasSubstr("echo"), HasSubstr("stopped"), HasSubstr("USERS"),
                                   HasSubstr("no user is connected")));
  }
  Host host = daemon_.connect();
  host.open_session("echo");
  const Said said = run({"--json", "status"}, root);
  const json status = json::parse(said.text);
  EXPECT_EQ(status["servers"][0]["state"], "ready") << said.text;
  EXPECT_EQ(status["servers"][0]["users"], 1);
  EXPECT_EQ(status["users"][0]["uid"], daemon_.user().uid);
  EXPECT_THAT(run({"status"}, alice).text, Not(HasSubstr("USERS"))) << "no administrator";
}

TEST_P(Admin, SeesHowFarTheLogOfTheDaemonThatAnswersReachesBack) {
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  host.call("recorded");
  EXPECT_THAT(run({"status"}, admin()).text, HasSubstr("audit log: reaches back 0 h 0 min"));
}

TEST_P(Admin, SeesWhoHasSwitchedEverythingOff) {
  if (!is_system()) GTEST_SKIP() << "rootless there is one user, whose status it is";
  start();
  ASSERT_EQ(run({"disable", "--reason", "the lift is on fire"}, root).exit, 0);
  const Said off = run({"status"}, root);
  EXPECT_EQ(off.exit, 0) << off.text;
  EXPECT_THAT(off.text,
              AllOf(HasSubstr("switched off by uid 0: the lift is on fire"), HasSubstr("echo")));
}

TEST_P(Admin, ARefusedAttemptAtTheirSocketsIsRecorded) {
  if (!is_system()) GTEST_SKIP() << "rootless there is nobody else";
  start("", "admins = [64102]");
  const User stranger{64103, 64103, {hosts_group}};
  for (int i = 0; i < 7; ++i) EXPECT_EQ(run({"disable"}, stranger).exit, 4);
  EXPECT_NE(run({"status"}, stranger).exit, 0) << "asks by itself, and is not recorded";
  daemon_.stop();
  const Said recorded = run({"audit", "--denied", "--kind", "switched", "--json", "--log",
                             daemon_.directory().path("log/audit.log")},
                            root);
  const auto lines = std::ranges::count(recorded.text, '\n');
  EXPECT_EQ(lines, 5) << recorded.text;
  EXPECT_THAT(recorded.text, HasSubstr("by uid 64103"));
  EXPECT_THAT(daemon_.log(), HasSubstr("refused an attempt of uid 64103"));
}

TEST_P(Admin, StopsTheCellsOfAUser) {
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  const Said said = run({"stop", "echo", "--for", whose()}, admin());
  EXPECT_EQ(said.exit, 0) << said.text;
  EXPECT_TRUE(host.at_end());
}

TEST_P(Admin, StopsTheCellsOfAllUsers) {
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_EQ(run({"stop", "nothing", "--all"}, admin()).exit, 4);
  const Said said = run({"stop", "echo", "--all"}, admin());
  EXPECT_EQ(said.exit, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("echo: 1 of "));
  EXPECT_TRUE(host.at_end());
}

TEST_P(Admin, NobodyElseComesIn) {
  if (!is_system()) GTEST_SKIP() << "rootless there is nobody else";
  start("", "admins = [64102]");
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_EQ(run({"status", "--for", whose()}, bob).exit, 0) << "whom daemon.admins names";
  const Said own = run({"status", "--for", whose()}, alice);
  EXPECT_NE(own.exit, 0) << "nobody is his own administrator: " << own.text;
  const User stranger{64103, 64103, {hosts_group}};
  EXPECT_NE(run({"status", "--for", whose()}, stranger).exit, 0);
  EXPECT_NE(run({"disable"}, stranger).exit, 0);
  EXPECT_NE(run({"disable"}, alice).exit, 0);
  EXPECT_EQ(host.call_for_text("echo", {{"text", "still on"}}), "still on");
}

TEST_P(Admin, WithoutNamesOnlyRootReachesTheDoors) {
  if (!is_system()) GTEST_SKIP() << "rootless there is nobody else";
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_EQ(run({"status", "--for", whose()}, bob).exit, 6);
  EXPECT_EQ(run({"disable"}, bob).exit, 6);
}

TEST_P(Admin, ADoorIsThereAsLongAsItsGateway) {
  start();
  const std::string door = daemon_.socket() + ".admin." + whose();
  EXPECT_FALSE(std::filesystem::exists(door));
  {
    Host host = daemon_.connect();
    host.open_session("echo");
    EXPECT_EQ(run({"status", "--for", whose()}, admin()).exit, 0);
  }
  daemon_.stop();
  EXPECT_FALSE(std::filesystem::exists(door));
  EXPECT_FALSE(std::filesystem::exists(daemon_.socket() + ".admin.disable"));
}

TEST_P(Admin, SaysYesToACallThatWaits) {
  start_asking();
  Host host = daemon_.connect();
  host.open_session("echo");
  host.send({{"jsonrpc", "2.0"},
             {"id", "held"},
             {"method", "tools/call"},
             {"params", {{"name", "echo"}, {"arguments", {{"text", "please"}}}}}});
  const json call = wait_for_a_call();
  EXPECT_EQ(call["server"], "echo");
  EXPECT_EQ(call["arguments"], R"({"text":"please"})");
  const std::string id = call["id"];
  const Said shown = run({"approve", "show", id}, admin());
  EXPECT_THAT(shown.text, HasSubstr("\"text\": \"please\""));
  if (is_system()) {
    EXPECT_NE(run({"approve", "allow", id}, alice).exit, 0) << "whoever asks does not approve";
  }
  const Said allowed = run({"approve", "allow", id}, admin());
  EXPECT_EQ(allowed.exit, 0) << allowed.text;
  EXPECT_EQ(host.answer_to("held")["result"]["content"][0]["text"], "please");
  EXPECT_EQ(run({"approve", "allow", id}, admin()).exit, 4) << "once";
}

TEST_P(Admin, SaysNoToACallThatWaits) {
  start_asking();
  Host host = daemon_.connect();
  host.open_session("echo");
  host.send({{"jsonrpc", "2.0"},
             {"id", "held"},
             {"method", "tools/call"},
             {"params", {{"name", "echo"}, {"arguments", {{"text", "please"}}}}}});
  const std::string number = wait_for_a_call()["approval"].dump();
  EXPECT_EQ(run({"approve", "deny", number + "0"}, admin()).exit, 4) << "no call has that one";
  const Said denied = run({"approve", "deny", number}, admin());
  EXPECT_EQ(denied.exit, 0) << denied.text;
  EXPECT_THAT(denied.text, HasSubstr(fmt::format("{}.{}", whose(), number))) << "by it alone";
  const json answer = host.answer_to("held");
  EXPECT_EQ(answer["result"]["_meta"]["cellblock/error"]["code"], "approval_required");
}

TEST_P(Admin, SwitchesEverythingOffUntilItIsSwitchedOnAgain) {
  start();
  Host host = daemon_.connect();
  host.open_session("echo");
  const Said off = run({"disable", "--reason", "the lift is on fire"}, admin());
  EXPECT_EQ(off.exit, 0) << off.text;
  EXPECT_TRUE(host.at_end());
  Host refused = daemon_.connect();
  const json refusal = refused.receive()["error"];
  EXPECT_EQ(refusal["data"]["code"], "disabled");
  EXPECT_THAT(std::string(refusal["message"]), HasSubstr("the lift is on fire"));
  EXPECT_THAT(run({"status"}, daemon_.user()).text, HasSubstr("the lift is on fire"));
  daemon_.stop();
  start();
  Host still = daemon_.connect();
  const json again_refused = still.receive()["error"];
  EXPECT_EQ(again_refused["data"]["code"], "disabled") << "a new daemon knows it too";
  EXPECT_THAT(std::string(again_refused["message"]), HasSubstr("the lift is on fire"));
  const Said on = run({"enable"}, admin());
  EXPECT_EQ(on.exit, 0) << on.text;
  Host again = daemon_.connect();
  again.open_session("echo");
  EXPECT_EQ(again.call_for_text("echo", {{"text", "hello"}}), "hello");
  const Said recorded = run(
      {"audit", "search", "--kind", "switched", "--log", daemon_.directory().path("log/audit.log")},
      admin());
  const std::string by = fmt::format("by uid {}", admin().uid);
  EXPECT_THAT(recorded.text, HasSubstr("disable  " + by + "  the lift is on fire"));
  EXPECT_THAT(recorded.text, HasSubstr("enable  " + by));
}

TEST_P(Admin, IsRecordedByTheSupervisorWhereAGatewayTellsOfTheWord) {
  start_asking();
  Host host = daemon_.connect();
  host.open_session("echo");
  host.send({{"jsonrpc", "2.0"},
             {"id", "held"},
             {"method", "tools/call"},
             {"params", {{"name", "echo"}, {"arguments", {{"text", "held"}}}}}});
  const std::string id = wait_for_a_call()["id"];
  EXPECT_GE(id.size(), whose().size() + std::string(".100001").size())
      << "numbers begin at a random one: " << id;
  EXPECT_EQ(run({"approve", "allow", id}, admin()).exit, 0);
  host.end_input();
  daemon_.stop();
  const std::string log = daemon_.directory().path("log/audit.log");
  const Said told = run({"audit", "search", "--kind", "switched", "--log", log}, admin());
  EXPECT_THAT(told.text, HasSubstr(fmt::format("connect  by uid {}  gateway ", admin().uid)));
  const Said sound = run({"audit", "verify", "--log", log}, admin());
  EXPECT_EQ(sound.exit, 0) << sound.text;
}

TEST_P(Admin, ToConnectToASwitchSwitchesNothing) {
  start();
  Host silent(daemon_.socket() + ".admin.disable", admin());
  silent.end_input();
  EXPECT_EQ(silent.receive()["error"]["data"]["code"], "invalid_request");
  Host host = daemon_.connect();
  host.open_session("echo");
  EXPECT_EQ(host.call_for_text("echo", {{"text", "still on"}}), "still on");
}

}  // namespace
}  // namespace cellblock::harness
