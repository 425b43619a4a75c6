#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "client/cli/audit/filter.h"
#include "client/cli/audit/line_text.h"
#include "client/cli/audit/log_files.h"
#include "supervisor/audit/audit_line.h"

namespace cellblock::cli {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

json call_line() {
  return json::parse(
      R"({"seq":4,"time":"2026-11-22T13:05:07.123Z","uid":4000000,"gateway":"aa","kind":"call",)"
      R"("outcome":"denied","server":"files","session":3,"tool":"write","reason":"allow.tools",)"
      R"("count":1})");
}

bool wants(const AuditQuestion& question, const json& line) {
  return AuditFilter(question).wants(line);
}

TEST(AuditFilter, TakesWhatEveryPartOfTheQuestionHoldsFor) {
  EXPECT_TRUE(wants({}, call_line()));
  EXPECT_TRUE(
      wants({.uid = 4'000'000, .server = "files", .tool = "write", .session = 3}, call_line()));
  EXPECT_FALSE(wants({.uid = 1}, call_line()));
  EXPECT_FALSE(wants({.server = "file"}, call_line()));
  EXPECT_FALSE(wants({.tool = "read"}, call_line()));
  EXPECT_FALSE(wants({.kind = "attach"}, call_line()));
  EXPECT_FALSE(wants({.outcome = "ok"}, call_line()));
  EXPECT_FALSE(wants({.session = 4}, call_line()));
}

TEST(AuditFilter, CountsATimeThatIsCutShortAsAllOfIt) {
  EXPECT_TRUE(wants({.since = "2026-11-22"}, call_line()));
  EXPECT_TRUE(wants({.until = "2026-11-22"}, call_line()));
  EXPECT_TRUE(wants({.since = "2026-11-22T13:05", .until = "2026-11-22T13:05"}, call_line()));
  EXPECT_FALSE(wants({.since = "2026-11-22T13:06"}, call_line()));
  EXPECT_FALSE(wants({.until = "2026-11-22T13:04"}, call_line()));
}

TEST(AuditFilter, FindsTheLinesOfALabelledSessionButNotThoseOfItsNamesake) {
  AuditFilter filter({.label = "org=acme"});
  EXPECT_FALSE(filter.wants(call_line()));
  json label = call_line();
  label["kind"] = "label";
  label["reason"] = "org";
  label["tool"] = "acme";
  EXPECT_TRUE(filter.wants(label));
  EXPECT_TRUE(filter.wants(call_line()));
  json other = call_line();
  other["gateway"] = "bb";
  EXPECT_FALSE(filter.wants(other));
}

TEST(AuditFilter, ReadsMomentsAndHowLongAgo) {
  constexpr std::int64_t now = 1'700'000'000;  // 2023-11-14T22:13:20Z
  EXPECT_EQ(moment_prefix("2h", now), "2023-11-14T20:13:20");
  EXPECT_EQ(moment_prefix("1d", now), "2023-11-13T22:13:20");
  EXPECT_EQ(moment_prefix("2026-11-22T13:05:00Z", now), "2026-11-22T13:05:00");
  EXPECT_EQ(moment_prefix("2026-11-22", now), "2026-11-22");
  EXPECT_EQ(moment_prefix("today", now), "2023-11-14");
  EXPECT_EQ(moment_prefix("yesterday", now), "2023-11-13");
  for (const char* wrong : {"tomorrow", "2h30", "-1h", "2026", "2026-11-22 13:05", "99999999d"}) {
    EXPECT_FALSE(moment_prefix(wrong, now)) << wrong;
  }
  EXPECT_EQ(moment_prefix("2024-02-29T1", now), "2024-02-29T1") << "the beginning of one";
}

TEST(AuditFilter, RefusesMomentsThatTheCalendarHasNot) {
  for (const char* wrong : {"2026-13-45", "2026-00-10", "2026-02-29", "2026-11-22T24",
                            "2026-11-22T13:60", "2026-11-22T13:05:61Z"}) {
    for (const auto& refused : {moment_prefix(wrong, 0), local_moment(wrong, 0, MomentEdge::end)}) {
      ASSERT_FALSE(refused) << wrong;
      EXPECT_THAT(refused.error().text, HasSubstr("the calendar has no such day"));
    }
  }
}

TEST(AuditKinds, AreAllThatTheLogHas) {
  for (auto kind = wire::AuditKind::session_opened; kind <= wire::AuditKind::flow;
       kind = static_cast<wire::AuditKind>(static_cast<int>(kind) + 1)) {
    EXPECT_THAT(audit_kinds, Contains(audit::name_of(kind)));
  }
}

TEST(AuditLineText, TellsALineInEightyColumns) {
  EXPECT_EQ(audit_line_text(call_line(), Style::none(), 80),
            "2026-11-22 13:05:07  4000000   call denied       files write  allow.tools");
  json resource = call_line();
  resource["method"] = "resources/read";
  resource["tool"] = "file:///a";
  EXPECT_EQ(audit_line_text(resource, Style::none(), 0),
            "2026-11-22 13:05:07  4000000   call denied       files resources/read file:///a  "
            "allow.tools");
  json longer = call_line();
  longer["tool"] = std::string(128, 't');
  // The last character is "…", three bytes.
  EXPECT_EQ(audit_line_text(longer, Style::none(), 80).size(), 82U);
}

TEST(AuditLineText, LetsNoNameMoveTheCursor) {
  json line = call_line();
  line["tool"] = "a\x1b[2J";
  EXPECT_EQ(audit_line_text(line, Style::none(), 0).find('\x1b'), std::string::npos);
}

TEST(AuditReport, OfALogWithoutRecordsClaimsNoProof) {
  const std::string text = report_text({.files = 1}, {}, Style::none());
  EXPECT_EQ(text, "empty: the log holds no record, so nothing is shown to be whole\n");
  EXPECT_THAT(report_text({.files = 1, .lines = 1, .first = 1}, {}, Style::none()),
              HasSubstr("whole: 1 lines"));
}

TEST(AuditReport, NamesFileLineAndWhatIsWrong) {
  audit::LogReport report;
  report.broken = 1;
  report.findings.push_back({audit::Grade::broken, "/var/log/a", 7, "it was altered"});
  const std::string text = report_text(report, {}, Style::none());
  EXPECT_THAT(text, HasSubstr("/var/log/a:7\n  broken: it was altered\n"));
  EXPECT_THAT(text, HasSubstr("BROKEN"));
  const json object = json::parse(report_json(report, {}));
  EXPECT_EQ(object["ok"], false);
  EXPECT_EQ(object["findings"][0]["line"], 7);
}

TEST(AuditReport, SaysThatNoLogWasComparedWithSignedAnchors) {
  audit::LogReport report;
  report.last.sequence = 12;
  const AnchorReport anchors{
      .key = "00ff", .good = 2, .last_time = "2026-11-28T07:48:59Z", .fresh = {}, .has_log = false};
  const std::string text = report_text(report, anchors, Style::none());
  EXPECT_THAT(text, HasSubstr("whole: 2 anchors signed by key 00ff, the last at 2026-11-28T07:"));
  EXPECT_THAT(text, HasSubstr("no log was compared"));
  EXPECT_EQ(json::parse(report_json(report, anchors))["log_compared"], false);
}

class LogFilesTest : public testing::Test {
 protected:
  LogFilesTest() : directory_(::mkdtemp(name_.data())), path_(directory_ + "/log") {}
  ~LogFilesTest() override {
    for (const char* suffix : {"", ".1", ".2"}) std::remove((path_ + suffix).c_str());
    std::remove(directory_.c_str());
  }

  void write(const std::string& suffix, const std::string& text) const {
    std::ofstream(path_ + suffix) << text;
  }

  std::string name_ = "/tmp/cellblock-log-XXXXXX";
  std::string directory_;
  std::string path_;
};

TEST_F(LogFilesTest, AreReadInTheOrderOfTheirLinesWhicheverNameTheyHave) {
  audit::ChainPoint at;
  write(".1", audit::seal("", at));
  write(".2", audit::seal("", at));
  write("", "");
  const auto files = log_files(path_);
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 2U) << "an empty one has made room";
  EXPECT_EQ((*files)[0].path, path_ + ".1");
  EXPECT_EQ((*files)[1].first, 2U);
}

TEST_F(LogFilesTest, SayWhatToDoWhereThereAreNone) {
  const auto files = log_files(path_);
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().text, HasSubstr("--log PATH"));
}

TEST_F(LogFilesTest, AreReadLineByLineAndOnFromWhereTheLastOneEnded) {
  write("", "one\ntwo\nthr");
  std::vector<std::string> lines;
  std::string rest;
  const LineTaker taker{.line = [&](std::string_view line) { lines.emplace_back(line); },
                        .rest = [&](std::string_view bytes) { rest += bytes; }};
  EXPECT_EQ(read_lines(path_, 0, taker), 8U);
  EXPECT_THAT(lines, ElementsAre("one", "two"));
  EXPECT_EQ(rest, "thr");
  write("", "one\ntwo\nthree\n");
  lines.clear();
  EXPECT_EQ(read_lines(path_, 8, taker), 14U);
  EXPECT_THAT(lines, ElementsAre("three"));
}

/// Of one test: mktime(3) and localtime(3) go by it.
class TimeZone {
 public:
  explicit TimeZone(const char* name) {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  ~TimeZone() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;
};

TEST(AuditLocalTimes, AreMomentsOfTheMachinesZoneAndEndWithWhatIsNamed) {
  const TimeZone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
  constexpr std::int64_t evening = 1'700'000'000;  // 2023-11-14 23:13:20 there
  struct Row {
    const char* text;
    const char* begin;
    const char* end;
  };
  const std::vector<Row> rows = {
      {"today", "2023-11-13T23:00:00", "2023-11-14T22:59:59"},
      {"yesterday", "2023-11-12T23:00:00", "2023-11-13T22:59:59"},
      {"2023-10-29", "2023-10-28T22:00:00", "2023-10-29T22:59:59"},  // has 25 hours
      {"2024-03-31", "2024-03-30T23:00:00", "2024-03-31T21:59:59"},  // has 23 hours
      {"2023-12-31T23", "2023-12-31T22:00:00", "2023-12-31T22:59:59"},
      {"2024-01-01T00:30", "2023-12-31T23:30:00", "2023-12-31T23:30:59"},
      {"2024-07-01T12:00:00", "2024-07-01T10:00:00", "2024-07-01T10:00:00"},
      {"2h", "2023-11-14T20:13:20", "2023-11-14T20:13:20"},
      {"2026-11-22T13:05:00Z", "2026-11-22T13:05:00", "2026-11-22T13:05:00"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(local_moment(row.text, evening, MomentEdge::begin), row.begin) << row.text;
    EXPECT_EQ(local_moment(row.text, evening, MomentEdge::end), row.end) << row.text;
  }
  for (const char* wrong : {"noon", "2026-11-2", "2026-11-22T1"}) {
    EXPECT_FALSE(local_moment(wrong, evening, MomentEdge::begin)) << wrong;
  }
}

TEST(AuditLocalTimes, AreShownWithTheirDistanceFromUtc) {
  const TimeZone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
  const nlohmann::json line{{"time", "2026-07-01T22:30:05.123Z"}, {"kind", "attach"}};
  EXPECT_TRUE(audit_line_text(line, Style::none(), 0, ShownTime::local)
                  .starts_with("2026-07-02 00:30:05+0200  "));
  EXPECT_TRUE(
      audit_line_text(line, Style::none(), 0, ShownTime::utc).starts_with("2026-07-01 22:30:05  "));
  const nlohmann::json odd{{"time", "yesterday"}, {"kind", "attach"}};
  EXPECT_TRUE(audit_line_text(odd, Style::none(), 0, ShownTime::local).starts_with("yesterday  "));
}

}  // namespace
}  // namespace cellblock::cli
