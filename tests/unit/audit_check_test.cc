#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/config_check/config_check.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

struct Checked {
  AuditRules rules;
  std::vector<Complaint> complaints;
};

Checked check(const std::string& table) {
  Complaints complaints;
  const ConfigText text =
      parse_config_text("[audit]\n" + table, "c.toml", FileRole::main, complaints);
  Checked checked;
  checked.rules = check_audit(complaints, text);
  checked.complaints = complaints.take_sorted();
  return checked;
}

TEST(AuditCheck, RefusesCallsThatCannotBeRecordedByDefault) {
  const Checked checked = check("");
  EXPECT_EQ(checked.rules, AuditRules{});
  EXPECT_EQ(checked.rules.on_failure, AuditFailure::refuse);
  EXPECT_TRUE(checked.complaints.empty());
}

TEST(AuditCheck, TakesWhatIsWritten) {
  const Checked checked = check(
      "max_bytes = \"1MiB\"\nkeep = 3\non_failure = \"alarm\"\narguments = \"none\"\n"
      "durability = \"synced\"\njournal = \"all\"\n");
  EXPECT_TRUE(checked.complaints.empty());
  EXPECT_EQ(checked.rules, (AuditRules{1U << 20, 3, AuditFailure::alarm, AuditArguments::none,
                                       AuditDurability::synced, AuditJournal::all}));
}

TEST(AuditCheck, TakesRedactedArguments) {
  EXPECT_EQ(check("arguments = \"redacted\"\n").rules.arguments, AuditArguments::redacted);
}

TEST(AuditCheck, NamesWhatIsWrongAndWhatIsAllowed) {
  struct Row {
    const char* line;
    const char* allowed;
  };
  for (const Row& row :
       {Row{"max_bytes = \"1KiB\"", "64KiB"}, Row{"keep = 65", "0 to 64"},
        Row{"on_failure = \"ignore\"", "\"refuse\", \"alarm\""},
        Row{"arguments = \"all\"", "\"digest\", \"none\", \"redacted\""},
        Row{"durability = \"yes\"", "\"written\", \"synced\""},
        Row{"journal = \"denied\"", "\"off\", \"all\""}, Row{"unknown = 1", "allowed"}}) {
    const Checked checked = check(row.line);
    ASSERT_EQ(checked.complaints.size(), 1U) << row.line;
    EXPECT_THAT(to_line(checked.complaints[0]), HasSubstr(row.allowed));
  }
}

TEST(AuditCheck, WarnsOfASizeThatNothingComesOf) {
  const Checked checked = check("keep = 0\nmax_bytes = \"1MiB\"\n");
  ASSERT_EQ(checked.complaints.size(), 1U);
  EXPECT_THAT(to_line(checked.complaints[0]), HasSubstr("keep = 0"));
}

}  // namespace
}  // namespace cellblock
