#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/config_check/listen_check.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {
namespace {

using testing::HasSubstr;

struct Outcome {
  std::optional<MetricsListen> metrics;
  std::string complaints;
};

Outcome check(const std::string& toml, RunMode mode = RunMode::system) {
  Complaints complaints;
  const ConfigText text = parse_config_text(toml, "test.toml", FileRole::main, complaints);
  Listen listen;
  listen.socket = "/run/cellblock/cellblock.sock";
  std::optional<HttpListen> http(std::in_place);
  http->address = "127.0.0.1";
  http->port = 8765;
  Outcome outcome{check_metrics(complaints, text, {mode, listen, http}), {}};
  for (const Complaint& complaint : complaints.take_sorted()) {
    outcome.complaints += to_line(complaint) + "\n";
  }
  return outcome;
}

TEST(MetricsCheck, NothingIsListenedOnUnlessDeclared) {
  const Outcome outcome = check("");
  EXPECT_FALSE(outcome.metrics);
  EXPECT_EQ(outcome.complaints, "");
}

TEST(MetricsCheck, ASocketHasAMode) {
  const Outcome plain = check("[metrics]\nsocket = \"/run/cellblock/metrics.sock\"\n");
  ASSERT_EQ(plain.complaints, "");
  EXPECT_EQ(plain.metrics->socket, "/run/cellblock/metrics.sock");
  EXPECT_EQ(plain.metrics->mode, 0660U);
  EXPECT_EQ(plain.metrics->port, 0);
  const std::string open = "[metrics]\nsocket = \"/run/cellblock/m.sock\"\nmode = \"0666\"\n";
  EXPECT_EQ(check(open).metrics->mode, 0666U);
}

TEST(MetricsCheck, ASocketOfAUserIsTheUsersAlone) {
  const Outcome outcome = check("[metrics]\nsocket = \"/run/m.sock\"\n", RunMode::user);
  ASSERT_EQ(outcome.complaints, "");
  EXPECT_EQ(outcome.metrics->mode, 0600U);
}

TEST(MetricsCheck, APortIsOneOfTheLoopback) {
  const Outcome outcome = check("[metrics]\nport = 9464\n");
  ASSERT_EQ(outcome.complaints, "");
  EXPECT_EQ(outcome.metrics->port, 9464);
  EXPECT_EQ(outcome.metrics->socket, "");
}

TEST(MetricsCheck, OneOfTheTwoIsSaid) {
  EXPECT_THAT(check("[metrics]\n").complaints, HasSubstr("is missing, and so is `port`"));
  EXPECT_THAT(check("[metrics]\nport = 9464\nsocket = \"/run/m.sock\"\n").complaints,
              HasSubstr("stands beside `socket`"));
  EXPECT_THAT(check("[metrics]\nport = 9464\nmode = \"0660\"\n").complaints,
              HasSubstr("has no meaning without `socket`"));
}

TEST(MetricsCheck, AWrongValueIsComplainedAboutOnce) {
  EXPECT_THAT(check("[metrics]\nport = 80\n").complaints, HasSubstr("1024"));
  const std::string wrong = check("[metrics]\nport = \"9464\"\n").complaints;
  EXPECT_THAT(wrong, HasSubstr("metrics.port"));
  EXPECT_THAT(wrong, testing::Not(HasSubstr("is missing")));
  EXPECT_THAT(check("[metrics]\nsocket = \"run/m.sock\"\n").complaints, HasSubstr("absolute"));
}

TEST(MetricsCheck, ItTakesNothingThatIsAnothersAlready) {
  EXPECT_THAT(check("[metrics]\nsocket = \"/run/cellblock/cellblock.sock\"\n").complaints,
              HasSubstr("another table already"));
  EXPECT_THAT(check("[metrics]\nport = 8765\n").complaints, HasSubstr("[listen.http]"));
}

TEST(MetricsCheck, ItStandsInTheMainFileOnly) {
  Complaints complaints;
  parse_config_text("[metrics]\nport = 9464\n", "servers.d/a.toml", FileRole::servers_only,
                    complaints);
  EXPECT_TRUE(complaints.has_errors());
}

}  // namespace
}  // namespace cellblock
