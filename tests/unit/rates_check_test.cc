#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "policy/config_check/limits_check.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Checked {
  UserCalls user;
  ServerCalls server;
  std::vector<Complaint> complaints;
};

Checked check(const std::string& toml, FileRole role = FileRole::main) {
  Complaints complaints;
  const ConfigText text = parse_config_text(toml, "c.toml", role, complaints);
  Checked checked;
  checked.user = check_user_calls({complaints, "c.toml", ""}, text.calls);
  if (!text.servers.empty()) {
    checked.server = check_server_calls({complaints, "c.toml", "server.git."},
                                        text.servers[0].calls, text.servers[0].tools);
  }
  checked.complaints = complaints.take_sorted();
  return checked;
}

constexpr Rate generous{200, 1s, 2'000};

TEST(CallsCheck, OneUserHasARateUnlessTheTomlSaysOtherwise) {
  EXPECT_EQ(check("[server.git]").user.user.rate, generous);
  EXPECT_EQ(check("[calls.user]\nin_flight = 3").user.user.rate, generous);
  EXPECT_EQ(check("[calls.user]\nrate = \"9/s\"").user.user.rate, (Rate{9, 1s, 9}));
  EXPECT_EQ(check("[calls.user]\nburst = 9").user.user.rate, (Rate{200, 1s, 9}));
  EXPECT_EQ(check("[calls.user]\nrate = \"none\"").user.user.rate, std::nullopt);
  EXPECT_EQ(check("[calls.session]\nin_flight = 3").user.session.rate, std::nullopt);
}

TEST(CallsCheck, ABurstWithoutARateIsAnErrorWhereTheRateIsNone) {
  const Checked checked = check("[calls.user]\nrate = \"none\"\nburst = 9");
  ASSERT_EQ(checked.complaints.size(), 1U);
  EXPECT_EQ(checked.complaints[0].key, "calls.user.burst");
}

TEST(CallsCheck, SixtySecondsAndAnHourAreTheDefaults) {
  const Checked checked = check("[server.git]");
  EXPECT_EQ(checked.user, (UserCalls{.user = {.rate = generous, .in_flight = {}}, .session = {}}));
  EXPECT_EQ(checked.server, ServerCalls{});
  EXPECT_EQ(checked.server.time, (CallTime{60s, 1h}));
  EXPECT_EQ(checked.server.retries, 2U);
  EXPECT_TRUE(checked.complaints.empty());
}

TEST(CallsCheck, TakesWhatIsWritten) {
  const Checked checked = check(R"(
[calls]
user = { rate = "600/m", burst = 50, in_flight = 32 }
session = { in_flight = 8 }
[server.git.calls]
rate = "10/s"
in_flight = 4
queue = 8
queue_time = "5s"
deadline = "30s"
max_deadline = "10m"
retries = 0
[server.git.tool.search]
in_flight = 1
deadline = "5m"
idempotent = true
[server.git.tool."a.b"]
rate = "1/m"
)");
  EXPECT_TRUE(checked.complaints.empty());
  EXPECT_EQ(checked.user.user, (CallBounds{Rate{600, 60s, 50}, 32}));
  EXPECT_EQ(checked.user.session, (CallBounds{.in_flight = 8}));
  const ServerCalls& git = checked.server;
  EXPECT_EQ(git.bounds, (CallBounds{Rate{10, 1s, 10}, 4}));
  EXPECT_EQ(git.queue, (CallQueue{8, 5s}));
  EXPECT_EQ(git.time, (CallTime{30s, 10min}));
  EXPECT_EQ(git.retries, 0U);
  ASSERT_EQ(git.tools.size(), 2U);
  EXPECT_EQ(find_tool(git, "a.b")->bounds.rate, (Rate{1, 60s, 1}));
  EXPECT_EQ(find_tool(git, "a.b")->time, (CallTime{30s, 10min}));
  EXPECT_EQ(find_tool(git, "a.b")->repeatable, Repeatable::no);
  EXPECT_EQ(find_tool(git, "search")->time, (CallTime{5min, 10min}));
  EXPECT_EQ(find_tool(git, "search")->repeatable, Repeatable::yes);
  EXPECT_EQ(find_tool(git, "a"), nullptr);
  EXPECT_EQ(find_tool(git, ""), nullptr);
}

TEST(CallsCheck, OneTimeThatIsWrittenMovesTheOtherAlong) {
  struct Row {
    const char* written;
    CallTime time;
  };
  for (const Row& row :
       {Row{"deadline = \"2h\"", {2h, 2h}}, Row{"max_deadline = \"30s\"", {30s, 30s}},
        Row{"deadline = \"none\"", {std::nullopt, std::nullopt}},
        Row{"max_deadline = \"none\"", {60s, std::nullopt}},
        Row{"deadline = \"none\"\nmax_deadline = \"2h\"", {std::nullopt, 2h}},
        Row{"deadline = \"5s\"", {5s, 1h}}}) {
    const Checked checked = check(std::string("[server.git.calls]\n") + row.written);
    EXPECT_EQ(checked.server.time, row.time) << row.written;
    EXPECT_TRUE(checked.complaints.empty()) << row.written;
  }
}

TEST(CallsCheck, AToolHasItsServersTimesUnlessItHasItsOwn) {
  const Checked checked = check(R"(
[server.git.calls]
deadline = "none"
max_deadline = "2h"
[server.git.tool.a]
[server.git.tool.b]
deadline = "3h"
)");
  EXPECT_TRUE(checked.complaints.empty());
  EXPECT_EQ(find_tool(checked.server, "a")->time, (CallTime{std::nullopt, 2h}));
  EXPECT_EQ(find_tool(checked.server, "b")->time, (CallTime{3h, 3h}));
}

TEST(CallsCheck, ComplainsOnceAboutEachMistake) {
  for (const char* toml : {"[calls]\nrate = \"1/s\"",
                           "[calls.user]\nqueue = 3",
                           "[calls.session]\nrate = \"1 per s\"",
                           "[server.git.calls]\nburst = 5",
                           "[server.git.calls]\nrate = \"1/s\"\nburst = 0",
                           "[server.git.calls]\nin_flight = 0",
                           "[server.git.calls]\nqueue = 5000",
                           "[server.git.calls]\nqueue_time = \"5s\"",
                           "[server.git.calls]\nqueue = 1\nqueue_time = \"1h\"",
                           "[server.git.calls]\ndeadline = \"5m\"\nmax_deadline = \"1m\"",
                           "[server.git.calls]\ndeadline = \"0s\"",
                           "[server.git.calls]\ndeadline = \"never\"",
                           "[server.git.calls]\nretries = 6",
                           "[server.git.calls]\nidempotent = true",
                           "[server.git.tool.a]\nqueue = 1",
                           "[server.git.tool.a]\nretries = 1",
                           "[server.git.tool.\"read_*\"]\nidempotent = true",
                           "[server.git.tool.\"\"]",
                           "[server.git]\ntool = \"a\"",
                           "[server.git.tool]\na = 1"}) {
    EXPECT_EQ(check(toml).complaints.size(), 1U) << toml;
  }
}

TEST(CallsCheck, AComplaintNamesTheKeyInFull) {
  const Checked checked = check("[server.git.tool.search]\nburst = 5");
  ASSERT_EQ(checked.complaints.size(), 1U);
  EXPECT_EQ(checked.complaints[0].key, "server.git.tool.search.burst");
  EXPECT_THAT(checked.complaints[0].text, HasSubstr("without rate"));
}

TEST(CallsCheck, WhatOneUserMayIsSaidInTheMainFileOnly) {
  EXPECT_EQ(check("[calls.user]\nin_flight = 1", FileRole::servers_only).complaints.size(), 1U);
}

}  // namespace
}  // namespace cellblock
