#include "policy/audit/log_verifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

/// Logs made as the writer makes them, then spoilt.
namespace cellblock::audit {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string opening(const ChainPoint& at, const std::string& torn = "") {
  std::string fields = R"(,"kind":"log_opened","previous":")" + hex_of(at.hash) + '"';
  if (torn.empty()) return fields;
  return fields + R"(,"torn_bytes":)" + std::to_string(torn.size()) + R"(,"torn_sha256":")" +
         hex_of(sha256(torn)) + '"';
}

class Log {
 public:
  Log() { open(); }

  void open() { add(opening(at)); }
  void close() { add(R"(,"kind":"log_closed")"); }
  void record(const std::string& gateway, int number) {
    add(R"(,"uid":1000,"gateway":")" + gateway + R"(","n":)" + std::to_string(number) +
        R"(,"kind":"call")");
  }
  void add(const std::string& fields) { files.back() += seal(fields, at); }
  void next_file() {
    close();
    files.emplace_back();
    open();
  }
  /// The writer is killed with so much of its next line in the file; another one goes on.
  void tear(std::size_t kept) {
    ChainPoint unseen = at;
    const std::string torn = seal(R"(,"kind":"call")", unseen).substr(0, kept);
    files.back() += torn;
    if (!torn.empty()) files.back() += "\n";
    if (!sealed_line(torn)) return add(opening(at, torn));
    at = unseen;
    open();
  }

  ChainPoint at;
  std::vector<std::string> files{""};
};

LogReport verify(const std::vector<std::string>& files, std::vector<ChainPoint> anchors = {},
                 Grade none_met = Grade::interrupted) {
  LogVerifier verifier(std::move(anchors), none_met);
  for (std::size_t i = 0; i < files.size(); ++i) {
    verifier.begin_file("file " + std::to_string(i));
    std::string_view text = files[i];
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
      verifier.line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    verifier.rest(text);
  }
  return verifier.finish();
}

Log sound_log() {
  Log log;
  for (int n = 1; n <= 3; ++n) {
    log.record("aa", n);
    log.record("bb", n);
  }
  log.next_file();
  for (int n = 4; n <= 6; ++n) log.record("aa", n);
  log.close();
  return log;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < file.size();) {
    const std::size_t end = file.find('\n', start) + 1;
    lines.push_back(file.substr(start, end - start));
    start = end;
  }
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

TEST(LogVerifier, FindsNothingInASoundLog) {
  const Log log = sound_log();
  const LogReport report = verify(log.files);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.files, 2U);
  EXPECT_EQ(report.lines, 13U);
  EXPECT_EQ(report.first, 1U);
  EXPECT_EQ(report.last, log.at);
}

TEST(LogVerifier, FindsEveryByteThatIsFlipped) {
  const Log log = sound_log();
  for (std::size_t file = 0; file < log.files.size(); ++file) {
    for (std::size_t at = 0; at < log.files[file].size(); ++at) {
      auto files = log.files;
      files[file][at] = static_cast<char>(static_cast<unsigned char>(files[file][at]) ^ 0x01U);
      // Without its last newline the log may be one that is being written.
      const bool is_last = file + 1 == files.size() && at + 1 == files[file].size();
      const LogReport report = verify(files);
      if (is_last) {
        EXPECT_FALSE(report.findings.empty());
      } else {
        EXPECT_GE(report.broken, 1U) << "file " << file << ", byte " << at;
      }
    }
  }
}

TEST(LogVerifier, FindsEveryLineThatIsRemovedFromTheMiddle) {
  const Log log = sound_log();
  for (std::size_t file = 0; file < log.files.size(); ++file) {
    const auto lines = lines_of(log.files[file]);
    for (std::size_t gone = 0; gone < lines.size(); ++gone) {
      if (file + 1 == log.files.size() && gone + 1 == lines.size()) continue;
      auto kept = lines;
      kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(gone));
      auto files = log.files;
      files[file] = joined(kept);
      const LogReport report = verify(files);
      EXPECT_EQ(report.broken, 1U) << "file " << file << ", line " << gone;
      EXPECT_EQ(report.lost, 0U) << "told once";
    }
  }
}

TEST(LogVerifier, NamesFileLineAndWhatIsWrong) {
  Log log = sound_log();
  auto lines = lines_of(log.files[0]);
  lines.erase(lines.begin() + 3);
  log.files[0] = joined(lines);
  EXPECT_THAT(verify(log.files).findings,
              ElementsAre(Finding{Grade::broken, "file 0", 4,
                                  "the line with seq 4 is missing before this one"}));
}

TEST(LogVerifier, FindsLinesThatChangedPlaces) {
  Log log = sound_log();
  auto lines = lines_of(log.files[0]);
  std::swap(lines[2], lines[3]);
  log.files[0] = joined(lines);
  EXPECT_GE(verify(log.files).broken, 1U);
}

TEST(LogVerifier, FindsALineThatWasCopied) {
  Log log = sound_log();
  auto lines = lines_of(log.files[0]);
  lines.insert(lines.begin() + 3, lines[2]);
  log.files[0] = joined(lines);
  EXPECT_GE(verify(log.files).broken, 1U);
}

TEST(LogVerifier, FindsAFileThatIsMissingInTheMiddle) {
  Log log = sound_log();
  log.next_file();
  const LogReport report = verify({log.files[0], log.files[2]});
  EXPECT_EQ(report.broken, 1U);
  EXPECT_THAT(report.findings[0].what, HasSubstr("are missing"));
}

TEST(LogVerifier, TakesALogWhoseOldestFilesMadeRoom) {
  const Log log = sound_log();
  const LogReport report = verify({log.files[1]});
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_EQ(report.first, 9U);
}

TEST(LogVerifier, FindsThatTheFirstLinesOfTheFirstFileAreGone) {
  const Log log = sound_log();
  auto lines = lines_of(log.files[1]);
  lines.erase(lines.begin());
  EXPECT_THAT(verify({joined(lines)}).findings,
              Contains(Field(&Finding::what, HasSubstr("begins in the middle"))));
}

TEST(LogVerifier, FindsAWriterThatWasKilledAndNothingBrokenWhereverItWas) {
  for (std::size_t kept = 0; kept < 98; ++kept) {
    Log log;
    log.record("aa", 1);
    log.tear(kept);
    log.record("aa", 2);
    log.close();
    const LogReport report = verify(log.files);
    EXPECT_EQ(report.broken, 0U) << kept;
    EXPECT_EQ(report.lost, 0U) << kept;
    EXPECT_THAT(report.findings, Contains(Field(&Finding::what, HasSubstr("was killed")))) << kept;
  }
}

TEST(LogVerifier, FindsTornBytesThatSomebodyChanged) {
  Log log;
  log.record("aa", 1);
  log.tear(20);
  for (std::size_t at = log.files[0].find("{\"seq\":3"); log.files[0][at] != '\n'; ++at) {
    auto files = log.files;
    files[0][at] = static_cast<char>(static_cast<unsigned char>(files[0][at]) ^ 0x02U);
    EXPECT_GE(verify(files).broken, 1U) << at;
  }
}

TEST(LogVerifier, FindsTornBytesThatNoWriterSpokeOf) {
  Log log;
  log.record("aa", 1);
  log.files.back() += "{\"seq\n";
  log.record("aa", 2);
  const LogReport report = verify(log.files);
  EXPECT_EQ(report.broken, 1U);
  EXPECT_THAT(report.findings[0].what, HasSubstr("no whole line"));
}

TEST(LogVerifier, SaysThatTheLastLineIsNotWholeYet) {
  Log log;
  log.files.back() += "{\"seq";
  const LogReport report = verify(log.files);
  EXPECT_EQ(report.broken, 0U);
  EXPECT_THAT(report.findings, ElementsAre(Field(&Finding::what, HasSubstr("last 5 bytes"))));
}

TEST(LogVerifier, FindsTheRecordsOfAGatewayThatNeverCame) {
  Log log;
  log.record("aa", 1);
  log.record("bb", 1);
  log.record("aa", 5);
  const LogReport report = verify(log.files);
  EXPECT_EQ(report.lost, 1U);
  EXPECT_EQ(report.broken, 0U);
  EXPECT_EQ(report.findings.at(0).what,
            "records 2 to 4 of gateway aa (uid 1000) never reached the log");
}

TEST(LogVerifier, TakesRecordsThatWereSentAgainToTheNextWriter) {
  Log log;
  log.record("aa", 1);
  log.record("aa", 2);
  log.open();
  log.record("aa", 2);
  log.record("aa", 3);
  const LogReport report = verify(log.files);
  EXPECT_EQ(report.broken, 0U);
  EXPECT_EQ(report.lost, 0U);
}

TEST(LogVerifier, TakesSeveralRecordsThatWereSentAgainOneAfterTheOther) {
  Log log;
  for (int number = 1; number <= 4; ++number) log.record("aa", number);
  log.open();
  for (int number = 2; number <= 5; ++number) log.record("aa", number);
  log.open();
  for (int number = 3; number <= 6; ++number) log.record("aa", number);
  EXPECT_THAT(verify(log.files).findings, Each(Field(&Finding::grade, Grade::interrupted)));
}

TEST(LogVerifier, FindsARecordThatComesTwiceAmongThoseThatWereSentAgain) {
  Log log;
  for (int number = 1; number <= 4; ++number) log.record("aa", number);
  log.open();
  for (const int number : {2, 3, 3, 4}) log.record("aa", number);
  EXPECT_EQ(verify(log.files).broken, 1U);
}

TEST(LogVerifier, FindsThatLinesAreGoneFromTheEndWithAnAnchorAlone) {
  Log log = sound_log();
  const ChainPoint anchor = log.at;
  EXPECT_THAT(verify(log.files, {anchor}).findings, IsEmpty());
  auto lines = lines_of(log.files[1]);
  lines.pop_back();
  EXPECT_THAT(verify({log.files[0], joined(lines)}).findings, IsEmpty());
  const LogReport report = verify({log.files[0], joined(lines)}, {anchor});
  EXPECT_EQ(report.broken, 1U);
}

TEST(LogVerifier, FindsALogThatWasWrittenAnewWithAnAnchorAlone) {
  const Log log = sound_log();
  Log other;
  for (int n = 1; other.at.sequence < log.at.sequence; ++n) other.record("aa", n);
  EXPECT_EQ(verify(other.files).broken, 0U);
  EXPECT_EQ(verify(other.files, {log.at}).broken, 1U);
}

TEST(LogVerifier, FindsThatOneOfManyAnchorsIsNotTheLineOfTheLog) {
  const Log log = sound_log();
  const auto lines = lines_of(log.files[0]);
  std::vector<ChainPoint> anchors;
  for (const std::size_t place : {0U, 3U, 5U}) {
    const auto sealed =
        sealed_line(std::string_view(lines[place]).substr(0, lines[place].size() - 1));
    ASSERT_TRUE(sealed);
    anchors.push_back({sealed->sequence, sealed->hash});
  }
  anchors.push_back(log.at);
  anchors.push_back(log.at);
  EXPECT_THAT(verify(log.files, anchors).findings, IsEmpty());
  anchors[1].hash = {};
  EXPECT_EQ(verify(log.files, anchors).broken, 1U);
}

TEST(LogVerifier, SaysOfTheLastAnchorAloneThatItMadeRoom) {
  const Log log = sound_log();
  EXPECT_THAT(verify({log.files[1]}, {{1, {}}, {2, {}}, log.at}).findings, IsEmpty());
  EXPECT_EQ(verify({log.files[1]}, {{1, {}}, {2, {}}}).findings.size(), 1U);
}

TEST(LogVerifier, FindsALogWrittenAnewThatBeginsRightBehindTheAnchor) {
  const Log log = sound_log();
  Log other;
  while (other.at.sequence < log.at.sequence) other.record("cc", 1);
  other.next_file();
  const std::uint64_t before = other.at.sequence - 1;  // the opening line is the last one
  EXPECT_EQ(verify({other.files[1]}, {{before, log.at.hash}}).broken, 1U);
  const ChainPoint former{log.at.sequence, log.at.hash};
  Log next = log;
  next.files.emplace_back();
  next.open();
  EXPECT_THAT(verify({next.files.back()}, {former}).findings, IsEmpty());
}

TEST(LogVerifier, BreaksAnyLogWithoutAnAnchorsLineIfThatIsAsked) {
  const Log log = sound_log();
  EXPECT_EQ(verify({log.files[1]}, {ChainPoint{2, {}}}, Grade::broken).broken, 1U);
  EXPECT_EQ(verify({log.files[1]}, {{2, {}}, log.at}, Grade::broken).broken, 0U);
}

TEST(LogVerifier, TakesNoLineBehindTheLastNumberThatThereIs) {
  Log log;
  log.at = {~std::uint64_t{0} - 1, {}};
  log.files = {""};
  log.open();
  EXPECT_EQ(verify(log.files).broken, 0U);
  log.close();  // its number is 0
  EXPECT_EQ(verify(log.files).broken, 1U);
}

TEST(LogVerifier, SaysThatAnAnchorMadeRoom) {
  const Log log = sound_log();
  const LogReport report = verify({log.files[1]}, {ChainPoint{2, {}}});
  EXPECT_EQ(report.broken, 0U);
  EXPECT_THAT(report.findings, ElementsAre(Field(&Finding::what, HasSubstr("made room"))));
}

TEST(LogVerifier, KeepsABoundedNumberOfFindings) {
  Log log;
  for (int i = 0; i < 1000; ++i) log.record("aa", 1 + (2 * i));
  const LogReport report = verify(log.files);
  EXPECT_EQ(report.findings.size(), LogVerifier::most_findings);
  EXPECT_EQ(report.lost, 999U);
  EXPECT_EQ(report.more_findings, 999U - LogVerifier::most_findings);
}

// --- words of administrators ---------------------------------------------------------------------

std::string gateway_line(const char* kind, int number, const char* reason) {
  return R"(,"uid":1000,"gateway":"00000000000000aa","n":)" + std::to_string(number) +
         R"(,"kind":")" + kind + R"(","tool":"x","reason":")" + reason + '"';
}

std::string visit_line(int number, const char* gateway, int admin) {
  return R"(,"uid":1,"gateway":"00000000000000ff","n":)" + std::to_string(number) +
         R"(,"kind":"switched","session":7,"tool":"connect","reason":"by uid )" +
         std::to_string(admin) + R"(","text":"gateway )" + gateway + R"( of uid 1000")";
}

Log log_of_format_2() {
  Log log;
  log.add(opening(log.at) + R"(,"format":2)");
  return log;
}

std::vector<std::string> named(const Log& log) {
  std::vector<std::string> texts;
  for (const Finding& finding : verify(log.files).findings) {
    if (finding.grade != Grade::interrupted) texts.push_back(finding.what);
  }
  return texts;
}

TEST(WordsOfAdministrators, AreBackedByALineOfTheSupervisors) {
  Log log = log_of_format_2();
  log.add(visit_line(1, "00000000000000aa", 0));
  log.add(gateway_line("approval", 1, "allowed by uid 0"));
  log.add(gateway_line("pin", 2, "accepted by uid 0"));
  log.add(gateway_line("pin", 3, "withheld: changed"));
  log.add(gateway_line("approval", 4, "allowed by the host"));
  EXPECT_THAT(named(log), IsEmpty());
}

TEST(WordsOfAdministrators, AreNamedWhereTheSupervisorTellsOfNoConnection) {
  struct Row {
    const char* gateway;
    int admin;
  };
  for (const Row& row : {Row{"00000000000000bb", 0}, Row{"00000000000000aa", 5}}) {
    Log log = log_of_format_2();
    log.add(visit_line(1, row.gateway, row.admin));
    log.add(gateway_line("approval", 1, "allowed by uid 0"));
    log.add(gateway_line("pin", 2, "accepted by uid 0"));
    EXPECT_THAT(named(log),
                ElementsAre(HasSubstr(R"(says "allowed by uid 0", but the supervisor)")));
  }
}

TEST(WordsOfAdministrators, MayComeJustBeforeTheSupervisorsLine) {
  Log log = log_of_format_2();
  log.add(gateway_line("approval", 1, "denied by uid 0"));
  log.add(visit_line(1, "00000000000000aa", 0));
  EXPECT_THAT(named(log), IsEmpty());
}

TEST(WordsOfAdministrators, AreNotLookedForInLogsThatDoNotTellOfConnections) {
  Log log;
  log.add(gateway_line("approval", 1, "denied by uid 0"));
  EXPECT_THAT(named(log), IsEmpty());
}

TEST(WordsOfAdministrators, AreNotWhatAUserDecidesForHimself) {
  Log log = log_of_format_2();
  log.add(gateway_line("pin", 1, "accepted by uid 1000"));
  EXPECT_THAT(named(log), IsEmpty());
}

TEST(LineTime, IsReadAsTheWriterWritesIt) {
  EXPECT_EQ(time_of(R"({"seq":1,"time":"2023-11-14T22:13:20.042Z","kind":"x")"), 1'700'000'000);
  for (const char* body : {"", "{}", R"("time":"2023-11-14")", R"("time":"2023-13-14T22:13:20")",
                           R"("time":"2023-11-14 22:13:20Z")"}) {
    EXPECT_EQ(time_of(body), std::nullopt) << body;
  }
}

}  // namespace
}  // namespace cellblock::audit
