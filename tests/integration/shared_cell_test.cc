// One cell for all sessions of a user: as many as come are one process, and what happens to one of
// them does not happen to the others.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::size_t times_in(std::string_view text, std::string_view word) {
  std::size_t times = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++times;
  return times;
}

class SharedCell : public testing::TestWithParam<Mode> {
 protected:
  SharedCell() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
    constexpr std::string_view shared = "cells = \"per-user\"\n";
    daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server", {}, shared) +
                              server_of_build(daemon_, "alone", "echo_server") +
                              server_of_build(daemon_, "recorder", "recording_server", {},
                                              std::string(shared) + everybody()) +
                              server_of_build(daemon_, "broken", "misbehaving_server", {"exit-one"},
                                              shared)});
  }

  // Whoever this daemon can have as users.
  std::string everybody() const {
    if (GetParam() == Mode::user) return "";
    return fmt::format("allow = {{ users = [{}, {}], tools = [\"*\"] }}\n", alice.uid, bob.uid);
  }

  json status_of(std::string_view name) { return status_of(name, daemon_.user()); }
  json status_of(std::string_view name, const User& user) {
    Host host = daemon_.connect(user);
    const json answer = host.request("cellblock/status");
    for (const json& server : answer["result"]["servers"]) {
      if (server["name"] == name) return server;
    }
    return {};
  }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, SharedCell, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

TEST_P(SharedCell, ServesTwoSessionsWithOneProcessWhereOthersHaveTwo) {
  for (const std::string name : {"echo", "alone"}) {
    const std::size_t processes = name == "echo" ? 1 : 2;
    Host first = daemon_.connect();
    Host second = daemon_.connect();
    first.open_session(name);
    second.open_session(name);
    EXPECT_EQ(first.call_for_text("echo", {{"text", "one"}}), "one");
    EXPECT_EQ(second.call_for_text("echo", {{"text", "two"}}), "two");
    const json status = status_of(name);
    EXPECT_EQ(status["sharing"], processes == 1 ? "per-user" : "per-session");
    EXPECT_THAT(status["cells"], SizeIs(processes)) << status["cells"].dump();
    EXPECT_THAT(status["cells"][0]["sessions"], SizeIs(3 - processes)) << status["cells"].dump();
  }
}

TEST_P(SharedCell, OutlivesTheSessionThatStartedIt) {
  const json before = [this] {
    Host first = daemon_.connect();
    first.open_session("echo");
    return status_of("echo")["cells"][0]["cell"];
  }();
  Host second = daemon_.connect();
  second.open_session("echo");
  EXPECT_EQ(second.call_for_text("echo", {{"text", "still"}}), "still");
  EXPECT_EQ(status_of("echo")["cells"][0]["cell"], before);
}

TEST_P(SharedCell, SpeaksBothErasToOneProcess) {
  Host legacy = daemon_.connect();
  legacy.open_session("echo");
  EXPECT_EQ(legacy.call_for_text("echo", {{"text", "old"}}), "old");
  Host modern = daemon_.connect();
  ASSERT_TRUE(modern.attach("echo").contains("result"));
  const json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientInfo", {{"name", "t"}, {"version", "1"}}},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  const json answer = modern.request(
      "tools/call", {{"name", "echo"}, {"arguments", {{"text", "new"}}}, {"_meta", meta}});
  EXPECT_EQ(answer["result"]["content"][0]["text"], "new") << answer.dump();
  // That of the survey may still be ending.
  json cells = status_of("echo")["cells"];
  std::erase_if(cells.get_ref<json::array_t&>(),
                [](const json& cell) { return cell["program"] != "server"; });
  EXPECT_THAT(cells, SizeIs(1)) << cells.dump();
}

TEST_P(SharedCell, IsStoppedForAllAndStartedAgain) {
  Host first = daemon_.connect();
  Host second = daemon_.connect();
  first.open_session("echo");
  second.open_session("echo");
  const json before = status_of("echo")["cells"][0]["cell"];
  const auto stop = daemon_.command({"stop", "echo"});
  EXPECT_EQ(stop->wait(), 0) << stop->errors().so_far();
  EXPECT_TRUE(first.at_end());
  EXPECT_TRUE(second.at_end());
  Host third = daemon_.connect();
  third.open_session("echo");
  EXPECT_EQ(third.call_for_text("echo", {{"text", "again"}}), "again");
  EXPECT_NE(status_of("echo")["cells"].back()["cell"], before);
}

TEST_P(SharedCell, NeverServesTwoUsers) {
  if (GetParam() == Mode::user) GTEST_SKIP() << "needs root: two users on one daemon";
  Host of_alice = daemon_.connect(alice);
  Host second_of_alice = daemon_.connect(alice);
  Host of_bob = daemon_.connect(bob);
  of_alice.open_session("recorder");
  second_of_alice.open_session("recorder");
  of_bob.open_session("recorder");
  of_alice.call_for_text("whoami", {{"secret", "of alice"}});
  EXPECT_THAT(second_of_alice.call_for_text("seen"), HasSubstr("of alice"));
  EXPECT_THAT(of_bob.call_for_text("seen"), Not(HasSubstr("of alice")));
  const json alices = status_of("recorder", alice)["cells"];
  const json bobs = status_of("recorder", bob)["cells"];
  ASSERT_THAT(alices, SizeIs(1)) << alices.dump();
  ASSERT_THAT(bobs, SizeIs(1)) << bobs.dump();
  EXPECT_NE(alices[0]["cell"], bobs[0]["cell"]);
  EXPECT_THAT(alices[0]["sessions"], SizeIs(2)) << alices.dump();
  EXPECT_THAT(bobs[0]["sessions"], SizeIs(1)) << bobs.dump();
  EXPECT_THAT(daemon_.processes_named("recording_server"), SizeIs(2));
}

// Its answers lie in its own queue, which is bounded: beyond it the session ends, and the cell has
// waited for nobody.
TEST_P(SharedCell, DoesNotWaitForASessionThatDoesNotRead) {
  Host deaf = daemon_.connect();
  Host other = daemon_.connect();
  deaf.open_session("recorder");
  other.open_session("recorder");
  constexpr std::size_t calls = 12;
  for (std::size_t i = 0; i < calls; ++i) {
    deaf.send({{"jsonrpc", "2.0"},
               {"id", i},
               {"method", "tools/call"},
               {"params", {{"name", "oversized"}, {"arguments", {{"bytes", 4 << 20}}}}}});
  }
  std::size_t taken = 0;
  for (std::string seen = "?"; taken < calls && !seen.empty();) {
    seen = other.call_for_text("seen");
    taken = times_in(seen, "oversized");
  }
  EXPECT_EQ(taken, calls);
  const json sessions = status_of("recorder")["cells"][0]["sessions"];
  EXPECT_THAT(sessions, SizeIs(1)) << sessions.dump();
}

TEST_P(SharedCell, TellsEachSessionWhyItDidNotStart) {
  for (int i = 0; i < 2; ++i) {
    Host host = daemon_.connect();
    // It ends at once, and that may be before its program was seen to run.
    const json attached = host.attach("broken");
    const json answer = attached.contains("error")
                            ? attached
                            : host.request("initialize", {{"protocolVersion", "2025-11-25"},
                                                          {"capabilities", json::object()},
                                                          {"clientInfo", {{"name", "t"}}}});
    EXPECT_THAT(answer.dump(), HasSubstr("no such database: inventory"));
  }
}

}  // namespace
}  // namespace cellblock::harness
