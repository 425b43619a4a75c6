#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "policy/config_check/config_check.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

struct Checked {
  CatalogueRules rules;
  std::vector<Complaint> complaints;
};

Checked check(const std::string& table, FileRole role = FileRole::main) {
  Complaints complaints;
  const ConfigText text = parse_config_text("[catalogue]\n" + table, "c.toml", role, complaints);
  Checked checked;
  checked.rules = check_catalogue(complaints, text);
  checked.complaints = complaints.take_sorted();
  return checked;
}

TEST(CatalogueCheck, HasDefaults) {
  const Checked checked = check("");
  EXPECT_EQ(checked.rules, CatalogueRules{});
  EXPECT_TRUE(checked.complaints.empty());
}

TEST(CatalogueCheck, TakesWhatIsWritten) {
  const Checked checked = check(
      "expiry = \"1d\"\nsurvey_timeout = \"1m\"\nera_timeout = \"500ms\"\nmax_bytes = \"1MiB\"\n");
  EXPECT_TRUE(checked.complaints.empty());
  EXPECT_EQ(checked.rules, (CatalogueRules{milliseconds{86'400'000}, milliseconds{60'000},
                                           milliseconds{500}, 1U << 20}));
}

TEST(CatalogueCheck, ComplainsAboutWhatIsOutOfRangeOrUnknown) {
  for (const char* line :
       {"expiry = \"1s\"", "expiry = \"32d\"", "survey_timeout = \"10ms\"", "era_timeout = \"2m\"",
        "max_bytes = \"1GiB\"", "max_bytes = \"1KiB\"", "expiry = 7", "unknown = \"1d\""}) {
    EXPECT_EQ(check(line).complaints.size(), 1U) << line;
  }
}

TEST(CatalogueCheck, NeedsTheQuestionToBeShorterThanTheSurvey) {
  const Checked checked = check("era_timeout = \"30s\"");
  ASSERT_EQ(checked.complaints.size(), 1U);
  EXPECT_EQ(checked.complaints[0].key, "catalogue.era_timeout");
  EXPECT_THAT(checked.complaints[0].text, HasSubstr("less than 30s"));
}

TEST(CatalogueCheck, IsOfTheMainFileOnly) {
  EXPECT_EQ(check("expiry = \"1d\"", FileRole::servers_only).complaints.size(), 1U);
}

}  // namespace
}  // namespace cellblock
