#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "supervisor/gateway/cell/usage_book.h"
#include "tests/unit/gateway_rig.h"

namespace cellblock::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Json;

/// A book, what it asks, and its clock.
class Usage : public ::testing::Test {
 protected:
  void SetUp() override {
    book.cell_started(1);
    book.cell_started(2);
  }
  void want(const std::string& who) {
    book.when_known(now, [this, who] { heard.push_back(who); });
  }
  void tell(const std::vector<wire::CellUsage>& cells, bool more = false) {
    wire::UsagePage page{.more = std::uint8_t{more}};
    for (const wire::CellUsage& cell : cells) page.cells.at(page.count++) = cell;
    book.told(page, now);
  }

  std::vector<std::uint64_t> asked;
  UsageBook book{[this](std::uint64_t after) { asked.push_back(after); }};
  std::vector<std::string> heard;
  Time now{std::chrono::hours{1}};
};

TEST_F(Usage, IsAskedForWhenSomebodyWantsItAndAnsweredThen) {
  want("alice");
  EXPECT_THAT(asked, ElementsAre(0));
  EXPECT_THAT(heard, IsEmpty());
  tell({{.cell = 1, .memory = 4096}, {.cell = 2, .cpu_microseconds = 7}});
  EXPECT_THAT(heard, ElementsAre("alice"));
  EXPECT_EQ(book.of(1, now).memory, 4096u);
  EXPECT_EQ(book.of(2, now).cpu_microseconds, 7u);
}

TEST_F(Usage, IsAskedForOnceHoweverManyWait) {
  want("alice");
  want("bob");
  tell({});
  EXPECT_THAT(asked, ElementsAre(0));
  EXPECT_THAT(heard, ElementsAre("alice", "bob"));
}

TEST_F(Usage, OfMoreCellsThanARecordHoldsIsAskedForOn) {
  want("alice");
  tell({{.cell = 1, .memory = 1}}, /*more=*/true);
  EXPECT_THAT(asked, ElementsAre(0, 1));
  EXPECT_THAT(heard, IsEmpty());
  tell({{.cell = 2, .memory = 2}});
  EXPECT_THAT(heard, ElementsAre("alice"));
  EXPECT_EQ(book.of(1, now).memory, 1u);
}

TEST_F(Usage, IsNotAskedForAgainWhileItIsFresh) {
  want("alice");
  tell({});
  want("bob");
  EXPECT_THAT(heard, ElementsAre("alice", "bob"));
  now += UsageBook::fresh_for;
  want("carol");
  EXPECT_THAT(asked, ElementsAre(0, 0));
}

TEST_F(Usage, IsNotAskedForWithoutACell) {
  book.cell_ended(1);
  book.cell_ended(2);
  want("alice");
  EXPECT_THAT(asked, IsEmpty());
  EXPECT_THAT(heard, ElementsAre("alice"));
}

TEST_F(Usage, StaysWhatItWasWhereTheLauncherWasAskedTooOftenButNotForLong) {
  want("alice");
  tell({{.cell = 1, .memory = 1}});
  now += UsageBook::fresh_for;
  want("bob");
  tell({});
  EXPECT_EQ(book.of(1, now).memory, 1u);
  now += UsageBook::shown_for;
  EXPECT_EQ(book.of(1, now).memory, 0u);
}

TEST_F(Usage, IsNotWaitedForForEver) {
  want("alice");
  book.wait_is_over();
  EXPECT_THAT(heard, ElementsAre("alice"));
  EXPECT_FALSE(book.is_waited_for());
  want("bob");
  EXPECT_THAT(asked, ElementsAre(0));  // the launcher still owes that answer
}

TEST_F(Usage, OfCellsThatNobodyKnowsIsForgotten) {
  want("alice");
  tell({{.cell = 9, .memory = 1}});
  EXPECT_EQ(book.of(9, now).memory, 0u);
}

TEST_F(Usage, IsWaitedForByABoundedNumber) {
  for (std::size_t i = 0; i < UsageBook::most_waiting; ++i) want("many");
  EXPECT_THAT(heard, IsEmpty());
  want("one more");
  EXPECT_THAT(heard, ElementsAre("one more"));
}

class UsageInStatus : public testing::GatewayRig {
 protected:
  void SetUp() override {
    GatewayRig::SetUp();
    start();
    host = connect();
    cell = attach_host(host);
  }

  /// The cell's row once that is in it: what is told too late is not waited for.
  Json row_with(const char* name, wire::CellUsage usage) {
    usage.cell = cell.number;
    for (int i = 0; i < 100; ++i) {
      Json row = status_of(host, {usage})["servers"][0]["cells"][0];
      if (row.contains(name)) return row;
    }
    return {};
  }

  testing::Lines host;
  testing::FakeCell cell;
};

TEST_F(UsageInStatus, IsWhatTheLauncherSays) {
  const Json row = row_with("memory_bytes", {.memory = 5'000'000,
                                             .memory_peak = 6'000'000,
                                             .cpu_microseconds = 1'500'000,
                                             .tasks = 11,
                                             .pressure = {.memory = 12'05, .cpu = 0}});
  EXPECT_EQ(row["memory_bytes"], 5'000'000) << row;
  EXPECT_EQ(row["memory_peak_bytes"], 6'000'000);
  EXPECT_EQ(row["cpu_ms"], 1'500);
  EXPECT_EQ(row["processes"], 11);
  EXPECT_EQ(row["pressure"], (Json{{"memory", 12.05}, {"cpu", 0.0}}));
}

TEST_F(UsageInStatus, IsLeftOutWhereItIsNotKnown) {
  const Json row = row_with("cpu_ms", {.cpu_microseconds = 2'000});
  EXPECT_EQ(row["cpu_ms"], 2) << row;
  EXPECT_FALSE(row.contains("memory_bytes"));
  EXPECT_FALSE(row.contains("memory_peak_bytes"));
  EXPECT_FALSE(row.contains("processes"));
  EXPECT_FALSE(row.contains("pressure"));
}

TEST_F(UsageInStatus, IsNotWaitedForForEver) {
  host.send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/status"})");
  const Json row = host.read_json()["result"]["servers"][0]["cells"][0];
  EXPECT_EQ(row["state"], "handshaking");
  EXPECT_FALSE(row.contains("cpu_ms"));
}

TEST_F(UsageInStatus, IsStillToldWhoeverHasClosedItsInput) {
  testing::Lines other = connect();
  other.send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/status"})");
  other.half_close();
  EXPECT_TRUE(other.read_json().contains("result"));
  EXPECT_TRUE(other.at_end());
}

TEST_F(UsageInStatus, OfASessionThatIsGoneMeanwhileHurtsNobody) {
  testing::Lines other = connect();
  other.send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/status"})");
  other.close();
  EXPECT_EQ(status_of(host)["servers"].size(), 1U);
}

}  // namespace
}  // namespace cellblock::gateway
