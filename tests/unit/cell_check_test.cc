#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "policy/config/server_keys.h"
#include "policy/config_check/value_check.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Checked {
  StopRules stop;
  HealthRules health;
  std::vector<Complaint> complaints;
};

Checked check(const std::string& lines) {
  Complaints complaints;
  const ConfigText text =
      parse_config_text("[server.git]\n" + lines, "c.toml", FileRole::main, complaints);
  const Scope scope{complaints, "c.toml", "server.git."};
  Checked checked;
  Timeouts timeouts;
  read_keys(scope.below("stop"), text.servers.at(0).stop, StopTable{checked.stop, timeouts});
  read_keys(scope.below("health"), text.servers.at(0).health, checked.health);
  checked.complaints = complaints.take_sorted();
  return checked;
}

TEST(CellCheck, WhatIsNotSaidHasItsDefault) {
  const Checked checked = check("");
  EXPECT_EQ(checked.stop.idle, 30min);
  EXPECT_EQ(checked.health.ping, std::nullopt);
  EXPECT_EQ(checked.health.timeout, 10s);
  EXPECT_THAT(checked.complaints, IsEmpty());
}

TEST(CellCheck, TakesEachKey) {
  const Checked checked =
      check("stop = { idle = \"5m\" }\nhealth = { ping = \"30s\", timeout = \"2s\" }");
  EXPECT_EQ(checked.stop, StopRules{.idle = 5min});
  EXPECT_EQ(checked.health, (HealthRules{.ping = 30s, .timeout = 2s}));
  EXPECT_THAT(checked.complaints, IsEmpty());
}

TEST(CellCheck, NeverIsATimeToo) {
  const Checked checked = check("stop = { idle = \"never\" }\nhealth = { ping = \"never\" }");
  EXPECT_EQ(checked.stop.idle, std::nullopt);
  EXPECT_EQ(checked.health.ping, std::nullopt);
  EXPECT_THAT(checked.complaints, IsEmpty());
}

TEST(CellCheck, RefusesWhatIsOutOfRangeAndSaysWhatIsAllowed) {
  const Checked checked =
      check("stop = { idle = \"10ms\" }\nhealth = { ping = \"soon\", timeout = \"2h\" }");
  ASSERT_EQ(checked.complaints.size(), 3U);
  EXPECT_EQ(checked.complaints[0].key, "server.git.stop.idle");
  EXPECT_THAT(checked.complaints[0].text, HasSubstr("allowed: 1s to "));
  EXPECT_THAT(checked.complaints[0].text, HasSubstr(", or \"never\""));
  EXPECT_THAT(checked.complaints[1].text, HasSubstr(", or \"never\""));
  EXPECT_EQ(checked.complaints[1].key, "server.git.health.ping");
}

}  // namespace
}  // namespace cellblock
