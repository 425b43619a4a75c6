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
  RestartRules rules;
  std::vector<Complaint> complaints;
};

Checked check(const std::string& restart) {
  Complaints complaints;
  const std::string toml = "[server.git]\nrestart = {" + restart + "}";
  const ConfigText text = parse_config_text(toml, "c.toml", FileRole::main, complaints);
  Checked checked;
  checked.rules = check_restart({complaints, "c.toml", "server.git."}, text.servers.at(0).restart);
  checked.complaints = complaints.take_sorted();
  return checked;
}

TEST(RestartCheck, WhatIsNotSaidHasItsDefault) {
  const Checked checked = check("");
  EXPECT_EQ(checked.rules, RestartRules{});
  EXPECT_TRUE(checked.complaints.empty());
}

TEST(RestartCheck, TakesEachKey) {
  const Checked checked =
      check(R"(when = "never", pause = "1s", max_pause = "2s", patience = "0ms", )"
            R"(failures = 1, window = "1h", rest = "1s", trials = 7)");
  EXPECT_EQ(checked.rules, (RestartRules{.when = RestartWhen::never,
                                         .pause = 1s,
                                         .max_pause = 2s,
                                         .patience = 0s,
                                         .failures = 1,
                                         .window = 1h,
                                         .rest = 1s,
                                         .trials = 7}));
  EXPECT_TRUE(checked.complaints.empty());
}

TEST(RestartCheck, ADefaultGivesWayToWhatIsDeclared) {
  EXPECT_EQ(check(R"(pause = "1m")").rules.max_pause, 1min);
  EXPECT_EQ(check(R"(max_pause = "100ms")").rules.pause, 100ms);
}

TEST(RestartCheck, RefusesALongestPauseThatIsShorterThanTheFirst) {
  const Checked checked = check(R"(pause = "2s", max_pause = "1s")");
  ASSERT_EQ(checked.complaints.size(), 1U);
  EXPECT_EQ(checked.complaints[0].key, "server.git.restart.max_pause");
  EXPECT_EQ(checked.complaints[0].text, "is shorter than pause; allowed: at least 2s");
}

TEST(RestartCheck, RefusesWhatIsOutOfRangeAndSaysWhatIsAllowed) {
  const Checked checked = check(R"(when = "always", failures = 0, window = "1ms", trials = 0)");
  ASSERT_EQ(checked.complaints.size(), 4U);
  EXPECT_THAT(checked.complaints[0].text, HasSubstr("allowed: "));
}

}  // namespace
}  // namespace cellblock
