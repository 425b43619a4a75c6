#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policy/config/config_bytes.h"
#include "policy/config_check/config_check.h"

/// `[redaction]` and what a server says otherwise.
namespace cellblock {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using enum RedactionAction;

struct Checked {
  RedactionRules rules;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;

  RedactionChoice of(std::string_view detector) const {
    const auto rule = std::ranges::find(rules.detectors, detector, &DetectorRule::detector);
    return rule == rules.detectors.end() ? RedactionChoice{} : rule->choice;
  }
};

Checked check(const std::string& redaction) {
  Complaints complaints;
  const std::string text =
      redaction + "\n[server.s]\ncommand = [\"/usr/bin/true\"]\nallow = { users = [\"alice\"] }\n";
  const std::vector<ConfigText> texts{
      parse_config_text(text, "c.toml", FileRole::main, complaints)};
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.users = {{"cellblock", {990, 991}}, {"alice", {1001, 1001}}};
  facts.groups = {{"cellblock", 991}};
  Checked checked;
  const Config config = check_config({RunMode::system, {}, texts}, facts, complaints);
  checked.rules = config.servers.at(0).redaction;
  const auto sealed = decode_config(encode(config));
  EXPECT_TRUE(sealed && sealed->servers.at(0).redaction == checked.rules);
  for (const Complaint& complaint : complaints.take_sorted()) {
    if (!complaint.key.contains("redaction")) continue;
    const bool is_error = complaint.severity == Complaint::Severity::error;
    (is_error ? checked.errors : checked.warnings).push_back(to_line(complaint));
  }
  return checked;
}

TEST(RedactionCheck, LooksForNothingButSecretsUnlessItIsSaid) {
  const Checked checked = check("");
  EXPECT_EQ(checked.rules, RedactionRules{});
  EXPECT_EQ(checked.rules.secrets, (RedactionChoice{log, redact}));
}

TEST(RedactionCheck, TakesAWordForBothDirectionsOrOneForEach) {
  const Checked checked = check(R"([redaction]
secrets = { to_host = "block" }
credentials = "redact"
pii = { to_server = "block" })");
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_EQ(checked.rules.secrets, (RedactionChoice{log, block}));
  EXPECT_EQ(checked.of("github_token"), (RedactionChoice{redact, redact}));
  EXPECT_EQ(checked.of("card"), (RedactionChoice{block, off}));
  EXPECT_EQ(checked.of("medical_record"), RedactionChoice{});
}

TEST(RedactionCheck, TakesTheStrictestOfTheSetsThatADetectorIsIn) {
  const Checked checked = check(R"([redaction]
pii = { to_server = "block", to_host = "log" }
phi = "redact"
[redaction.detectors]
email = "off"
phone = { to_host = "block" })");
  EXPECT_EQ(checked.of("ssn"), (RedactionChoice{block, redact}));
  EXPECT_EQ(checked.of("card"), (RedactionChoice{block, log}));
  EXPECT_EQ(checked.of("medical_record"), (RedactionChoice{redact, redact}));
  EXPECT_EQ(checked.of("email"), RedactionChoice{});
  EXPECT_EQ(checked.of("phone"), (RedactionChoice{off, block}));
}

TEST(RedactionCheck, LetsAServerSayOtherwiseKeyByKey) {
  const Checked checked = check(R"([redaction]
credentials = "block"
pii = "redact"
[redaction.expressions.ticket]
pattern = 'T-\d+'
action = "log"
[redaction.expressions.other]
pattern = 'X-\d+'
action = "log"
[server.s.redaction]
pii = "off"
secrets = "off"
[server.s.redaction.expressions.ticket]
pattern = 'ticket \d+'
action = { to_server = "block" })");
  EXPECT_THAT(checked.errors, IsEmpty());
  EXPECT_EQ(checked.of("card"), RedactionChoice{});
  EXPECT_EQ(checked.of("jwt"), (RedactionChoice{block, block}));
  EXPECT_EQ(checked.rules.secrets, RedactionChoice{});
  EXPECT_EQ(checked.rules.expressions,
            (std::vector<ExpressionRule>{{"other", "X-\\d+", {log, log}},
                                         {"ticket", "ticket \\d+", {block, off}}}));
}

TEST(RedactionCheck, SaysWhatIsWrong) {
  EXPECT_THAT(check("[redaction]\npii = \"mask\"").errors,
              Contains(HasSubstr("redaction.pii: \"mask\" is not known to this version; allowed: "
                                 "\"off\", \"log\", \"redact\", \"block\"")));
  EXPECT_THAT(check("[redaction]\npii = 3").errors, Contains(HasSubstr("redaction.pii")));
  EXPECT_THAT(check("[redaction]\npii = { to_hosts = \"log\" }").errors,
              Contains(HasSubstr("did you mean \"to_host\"?")));
  EXPECT_THAT(check("[redaction.detectors]\nemails = \"log\"").errors,
              Contains(HasSubstr("is no detector; did you mean \"email\"?")));
  const std::string head = "[redaction.expressions.";
  EXPECT_THAT(check(head + "x]\npattern = '(a'\naction = \"log\"").errors,
              Contains(HasSubstr("allowed: the syntax of RE2")));
  EXPECT_THAT(check(head + "x]\npattern = 'a*'\naction = \"log\"").errors,
              Contains(HasSubstr("matches the empty text")));
  EXPECT_THAT(check(head + "x]\naction = \"log\"").errors, Contains(HasSubstr("is missing")));
  EXPECT_THAT(check(head + "email]\npattern = 'a'\naction = \"log\"").errors,
              Contains(HasSubstr("is no name for an expression")));
  EXPECT_THAT(check(head + "x]\npattern = 'a'").warnings,
              Contains(HasSubstr("this expression does nothing")));
}

}  // namespace
}  // namespace cellblock
