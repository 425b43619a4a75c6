#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "client/cli/watch/page.h"
#include "tests/unit/fake_gateway.h"
#include "tests/unit/subprocess.h"

namespace cellblock::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

Sample sample_of(const std::string& servers) {
  const auto sample =
      read_sample(R"({"version":"0.1.0","mode":"system","servers":[)" + servers + "]}");
  EXPECT_TRUE(sample);
  return sample.value_or(Sample{});
}

std::string git_with(const std::string& cells) {
  return R"({"name":"git","state":"ready","cells":[)" + cells + "]}";
}

TEST(TopSample, TakesWhatIsKnownAndEscapesIt) {
  const Sample sample = sample_of(
      R"({"name":"git","state":"failed","denied_total":2,"cells":[{"cell":"7","uptime_ms":5,"calls":3,
"cpu_ms":11}],"last_end":{"verdict":"early_crash","cause":"\u001b[2Jgone"}})");
  EXPECT_EQ(sample.headline, "cellblock 0.1.0, system mode");
  ASSERT_THAT(sample.servers, SizeIs(1));
  const ServerSample& git = sample.servers[0];
  EXPECT_EQ(git.state, "failed");
  EXPECT_EQ(git.refused, 2);
  EXPECT_EQ(git.last_failure, "\\x1b[2Jgone");
  EXPECT_EQ(git.cells.at("7").cpu_ms, 11);
  EXPECT_EQ(git.cells.at("7").memory_bytes, std::nullopt);
}

TEST(TopSample, CallsNoFailureWhatWasStopped) {
  for (const char* verdict : {"stopped", "ordinary_exit"}) {
    const Sample sample = sample_of(R"({"name":"git","last_end":{"verdict":")" +
                                    std::string(verdict) + R"(","cause":"stopped"}})");
    EXPECT_EQ(sample.servers.at(0).last_failure, "") << verdict;
  }
}

TEST(TopSample, IsNoneOfWhatIsNoStatus) {
  for (const char* text : {"", "[]", "{}", "nonsense"}) EXPECT_FALSE(read_sample(text)) << text;
}

TEST(TopRows, HaveNoRatesBeforeThereAreTwoSamples) {
  const Sample now = sample_of(git_with(R"({"cell":"1","uptime_ms":1000,"calls":4,"cpu_ms":500})"));
  const auto rows = top_rows(nullptr, now);
  EXPECT_EQ(rows.at(0).cpu_percent, std::nullopt);
  EXPECT_EQ(rows.at(0).calls_per_second, std::nullopt);
  EXPECT_EQ(rows.at(0).calls, 4);
  EXPECT_EQ(rows.at(0).cells, 1U);
}

TEST(TopRows, TakeTheTimeBetweenFromTheAgeOfEachCell) {
  const Sample before = sample_of(
      git_with(R"({"cell":"1","uptime_ms":1000,"calls":4,"cpu_ms":500,"memory_bytes":100})"));
  const Sample now = sample_of(
      git_with(R"({"cell":"1","uptime_ms":3000,"calls":7,"cpu_ms":1500,"memory_bytes":300})"));
  const TopRow row = top_rows(&before, now).at(0);
  EXPECT_DOUBLE_EQ(*row.cpu_percent, 50);
  EXPECT_DOUBLE_EQ(*row.calls_per_second, 1.5);
  EXPECT_EQ(row.memory_bytes, 300);
}

TEST(TopRows, SumUpCellsButTakeNoRateOfOneThatIsNew) {
  const Sample before = sample_of(git_with(
      R"({"cell":"1","uptime_ms":0,"calls":0,"cpu_ms":0},{"cell":"2","uptime_ms":0,"calls":0,"cpu_ms":0})"));
  const Sample now =
      sample_of(git_with(R"({"cell":"1","uptime_ms":1000,"calls":1,"cpu_ms":100,"memory_bytes":1},
{"cell":"2","uptime_ms":1000,"calls":2,"cpu_ms":200,"memory_bytes":2},
{"cell":"3","uptime_ms":10,"calls":50,"cpu_ms":900,"memory_bytes":4})"));
  const TopRow row = top_rows(&before, now).at(0);
  EXPECT_DOUBLE_EQ(*row.cpu_percent, 30);
  EXPECT_DOUBLE_EQ(*row.calls_per_second, 3);
  EXPECT_EQ(row.calls, 53);
  EXPECT_EQ(row.memory_bytes, 7);
  EXPECT_EQ(row.cells, 3U);
}

TEST(TopRows, AreNeverNegativeAndKnowNothingOfWhatIsNotCounted) {
  const Sample before =
      sample_of(git_with(R"({"cell":"1","uptime_ms":1000,"calls":9,"cpu_ms":500})"));
  const Sample now = sample_of(git_with(R"({"cell":"1","uptime_ms":2000,"calls":4})"));
  const TopRow row = top_rows(&before, now).at(0);
  EXPECT_DOUBLE_EQ(*row.calls_per_second, 0);
  EXPECT_EQ(row.cpu_percent, std::nullopt);
  EXPECT_EQ(row.memory_bytes, std::nullopt);
  const TopRow same = top_rows(&before, before).at(0);  // no time has passed
  EXPECT_EQ(same.cpu_percent, std::nullopt);
}

std::vector<std::string> sorted(std::vector<TopRow> rows, TopOrder order) {
  sort_rows(rows, order);
  std::vector<std::string> names;
  names.reserve(rows.size());
  for (const TopRow& row : rows) names.push_back(row.name);
  return names;
}

TEST(TopRows, AreSortedLargestFirstAndWhatIsNotKnownLast) {
  const std::vector<TopRow> rows{{.name = "d"},
                                 {.name = "c", .cpu_percent = 0, .memory_bytes = 9},
                                 {.name = "b", .cpu_percent = 7, .calls_per_second = 1},
                                 {.name = "a", .calls_per_second = 2}};
  EXPECT_THAT(sorted(rows, TopOrder::cpu), ElementsAre("b", "c", "a", "d"));
  EXPECT_THAT(sorted(rows, TopOrder::memory), ElementsAre("c", "a", "b", "d"));
  EXPECT_THAT(sorted(rows, TopOrder::calls), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(sorted(rows, TopOrder::name), ElementsAre("a", "b", "c", "d"));
}

TEST(TopRows, AreSortedByTheNextOrderUntilTheFirstComesAgain) {
  TopOrder order = TopOrder::cpu;
  std::vector<std::string_view> names;
  for (int i = 0; i < 5; ++i, order = next_order(order)) names.push_back(name_of(order));
  EXPECT_THAT(names, ElementsAre("cpu", "memory", "calls", "name", "cpu"));
}

std::vector<TopRow> many_rows(std::size_t count) {
  std::vector<TopRow> rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back({.name = "server-" + std::to_string(i + 1), .state = "ready", .cells = 1});
  }
  return rows;
}

std::vector<std::string> texts_of(const std::vector<PageLine>& lines) {
  std::vector<std::string> texts;
  texts.reserve(lines.size());
  for (const PageLine& line : lines) texts.push_back(line.text);
  return texts;
}

TEST(TopPage, HasATitleAndARowForEachServer) {
  const std::vector<TopRow> rows{{.name = "git",
                                  .state = "failed",
                                  .cells = 2,
                                  .cpu_percent = 12.34,
                                  .memory_bytes = 3 << 20,
                                  .calls = 7,
                                  .calls_per_second = 1,
                                  .refused = 4,
                                  .last_failure = "exited with code 1"},
                                 {.name = "off", .state = "stopped"}};
  const auto lines = top_table(rows, 0);
  EXPECT_THAT(
      texts_of(lines),
      ElementsAre(
          "SERVER  STATE    CELLS  CPU%  MEMORY  CALLS  CALLS/S  REFUSED  LAST FAILURE",
          "git     failed       2  12.3   3 MiB      7      1.0        4  exited with code 1",
          "off     stopped      0     -       -      0        -        0  "));
  EXPECT_EQ(lines[0].emphasis, Emphasis::heading);
  EXPECT_EQ(lines[1].colour, Colour::bad);
  EXPECT_EQ(lines[2].colour, Colour::plain);
}

TEST(TopPage, FillsTheScreenAndIsNowhereWiderOrLonger) {
  for (const PageSize size :
       {PageSize{24, 80}, PageSize{50, 200}, PageSize{6, 20}, PageSize{2, 10}, PageSize{1, 1}}) {
    const auto lines =
        top_page({.headline = "cellblock 0.1.0, system mode", .rows = many_rows(60)}, size);
    EXPECT_THAT(lines, SizeIs(size.lines));
    for (const PageLine& line : lines) EXPECT_LE(line.text.size(), size.columns + 2) << line.text;
  }
}

TEST(TopPage, ShowsTheRowsFromWhereItWasScrolledTo) {
  const TopPage page{.headline = "h", .rows = many_rows(30), .order = TopOrder::name, .first = 5};
  const auto lines = texts_of(top_page(page, {.lines = 14, .columns = 120}));
  EXPECT_THAT(lines[1], HasSubstr("30 servers, 30 cells, CPU - %, memory -"));
  EXPECT_THAT(lines[2], StartsWith("SERVER"));
  EXPECT_THAT(lines[3], StartsWith("server-6 "));
  EXPECT_THAT(lines[12], StartsWith("server-15 "));
  EXPECT_THAT(lines[13], AllOf(HasSubstr("sorted by name"), HasSubstr("6-15 of 30")));
}

TEST(TopPage, IsScrolledNoFurtherThanToItsEnd) {
  const TopPage page{.headline = "h", .rows = many_rows(30), .order = TopOrder::name, .first = 99};
  const auto lines = texts_of(top_page(page, {.lines = 14, .columns = 120}));
  EXPECT_THAT(lines[12], StartsWith("server-30 "));
  EXPECT_EQ(last_first(30, {.lines = 14, .columns = 120}), 20U);
  EXPECT_EQ(last_first(3, {.lines = 14, .columns = 120}), 0U);
}

TEST(TopPage, SaysWithoutServersThatThereAreNone) {
  const auto lines = texts_of(top_page({.headline = "h"}, {.lines = 10, .columns = 80}));
  EXPECT_THAT(lines[1], StartsWith("0 servers, 0 cells"));
}

TEST(TopPage, ForATerminalWithoutUtf8HasNoOtherThanAscii) {
  EXPECT_EQ(ascii_of("a\xc3\xa9"
                     "b\xe2\x80\xa6"),
            "a?b?");
}

testing::Subprocess::Ended top(const testing::FakeGateway& gateway,
                               std::vector<std::string> words) {
  std::vector<std::string> all{CELLBLOCK_CLI, "--socket", gateway.path(), "top"};
  all.insert(all.end(), words.begin(), words.end());
  return testing::run(std::move(all));
}

// The second answer is a second later by the cell's own age.
void answer_twice(testing::FakeConnection& peer) {
  for (const int at : {0, 1}) {
    const auto asked = peer.read_line().value_or("");
    EXPECT_THAT(asked, HasSubstr("cellblock/status"));
    peer.answer(
        asked,
        R"({"version":"1","mode":"system","servers":[{"name":"git","state":"ready","cells":[{"cell":"1","uptime_ms":)" +
            std::to_string(1000 + at * 1000) + R"(,"calls":2,"cpu_ms":)" +
            std::to_string(100 + at * 250) + R"(,"memory_bytes":2097152}]}]})");
  }
  (void)peer.read_line();
}

TEST(CliTop, PrintsOneTable) {
  testing::FakeGateway gateway(answer_twice);
  const auto ended = top(gateway, {"--once", "--interval", "200ms"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "SERVER  STATE  CELLS  CPU%  MEMORY  CALLS  CALLS/S  REFUSED  LAST FAILURE\n"
            "git     ready      1  25.0   2 MiB      2      0.0        0  \n");
}

TEST(CliTop, PrintsTheSameAsJson) {
  testing::FakeGateway gateway(answer_twice);
  EXPECT_EQ(top(gateway, {"--once", "--interval", "0.2", "--json"}).out,
            R"({"servers":[{"name":"git","state":"ready","cells":1,"cpu_percent":25.0,)"
            R"("memory_bytes":2097152,"calls":2,"calls_per_second":0.0,"refused":0}]})"
            "\n");
}

testing::Subprocess::Ended watch(const testing::FakeGateway& gateway,
                                 std::vector<std::string> words) {
  std::vector<std::string> all{CELLBLOCK_CLI, "--socket", gateway.path(), "status",
                               "--watch",     "--once",   "--interval",   "0.2"};
  all.insert(all.end(), words.begin(), words.end());
  return testing::run(std::move(all));
}

TEST(CliStatusWatch, IsTop) {
  testing::FakeGateway gateway(answer_twice);
  const auto ended = watch(gateway, {"--json"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(ended.out, top(gateway, {"--once", "--interval", "0.2", "--json"}).out);
}

TEST(CliStatusWatch, ShowsOneServerWhereItIsNamed) {
  testing::FakeGateway gateway(answer_twice);
  EXPECT_THAT(watch(gateway, {"git"}).out, HasSubstr("\ngit "));
  testing::FakeGateway once([](testing::FakeConnection& peer) {
    peer.answer(peer.read_line().value_or(""), R"({"servers":[{"name":"git"}]})");
  });
  const auto other = watch(once, {"files"});
  EXPECT_EQ(other.exit_code, 4);
  EXPECT_THAT(other.err, HasSubstr("there is no server \"files\""));
}

TEST(CliTop, NamesWhatToDoWithoutATerminal) {
  testing::FakeGateway gateway([](testing::FakeConnection&) {});
  const auto ended = top(gateway, {});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("status --watch --once"));
}

TEST(CliTop, TakesNoIntervalThatIsTooShortOrTooLong) {
  for (const char* interval : {"100ms", "61", "-1", "x"}) {
    EXPECT_EQ(testing::run({CELLBLOCK_CLI, "top", "--once", "--interval", interval}).exit_code, 2)
        << interval;
  }
}

}  // namespace
}  // namespace cellblock::cli
