// What one of cellblock's own processes says, as lines for the daemon's log.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "supervisor/daemon/logs/log_lines.h"

namespace cellblock::daemon {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Level = LogLines::Level;
using Line = LogLines::Line;

constexpr LogLines::Time start{seconds{1'000}};

LogLines of_gateway() { return LogLines("cellblock-gateway"); }

TEST(LogLines, TakesItsLevelFromWhatTheProcessSays) {
  LogLines lines = of_gateway();
  EXPECT_THAT(lines.take("cellblock-gateway: one\ncellblock-gateway: warning: two\n"
                         "cellblock-gateway: error: three\n",
                         start),
              ElementsAre(Line{Level::info, "one"}, Line{Level::warning, "two"},
                          Line{Level::error, "three"}));
}

TEST(LogLines, PutsPiecesOfALineTogether) {
  LogLines lines = of_gateway();
  EXPECT_THAT(lines.take("cellblock-gat", start), IsEmpty());
  EXPECT_THAT(lines.take("eway: said\nnext", start), ElementsAre(Line{Level::info, "said"}));
  EXPECT_THAT(lines.finish(), ElementsAre(Line{Level::info, "next"}));
}

TEST(LogLines, LetsNothingForgeALineOrALevel) {
  LogLines lines = of_gateway();
  EXPECT_THAT(lines.take("<3>cellblockd: error: forged\r\x1b[2J\n", start),
              ElementsAre(Line{Level::info, "<3>cellblockd: error: forged\\x0d\\x1b[2J"}));
}

TEST(LogLines, CutsALineThatIsTooLong) {
  LogLines lines = of_gateway();
  const auto said = lines.take(std::string(LogLines::longest_line + 7, 'x') + "\nshort\n", start);
  ASSERT_THAT(said, SizeIs(2));
  EXPECT_THAT(said[0].text, HasSubstr("x…[7 more bytes]"));
  EXPECT_EQ(said[1].text, "short");
}

TEST(LogLines, CountsWhatIsMoreThanIsWrittenInASecond) {
  LogLines lines = of_gateway();
  std::string flood;
  for (std::uint32_t i = 0; i < LogLines::lines_per_second + 3; ++i) flood += "again\n";
  EXPECT_THAT(lines.take(flood, start), SizeIs(LogLines::lines_per_second));
  EXPECT_THAT(lines.take("later\n", start + seconds{1}),
              ElementsAre(Line{Level::warning,
                               "3 more lines were left out: it says more than 50 "
                               "in a second"},
                          Line{Level::info, "later"}));
}

TEST(LogLines, TellsAtTheEndWhatWasLeftOut) {
  LogLines lines = of_gateway();
  std::string flood;
  for (std::uint32_t i = 0; i <= LogLines::lines_per_second; ++i) flood += "again\n";
  static_cast<void>(lines.take(flood, start));
  EXPECT_THAT(lines.finish(), ElementsAre(Line{Level::warning,
                                               "1 more line was left out: it says more than 50 in "
                                               "a second"}));
}

}  // namespace
}  // namespace cellblock::daemon
