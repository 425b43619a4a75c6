#include <gtest/gtest.h>

#include "client/cli/terminal/json_text.h"

namespace cellblock::cli {
namespace {

TEST(TerminalJson, LeavesWhatIsSeenAsItIs) {
  EXPECT_EQ(terminal_json("{\n\t\"name\": \"Grüße, 世界 \\u001b\"}"),
            "{\n\t\"name\": \"Grüße, 世界 \\u001b\"}");
}

TEST(TerminalJson, EscapesWhatATerminalWouldObeyOrHide) {
  EXPECT_EQ(terminal_json("\"\xc2\x9b[2J\x7f\""), "\"\\u009b[2J\\u007f\"");
  EXPECT_EQ(terminal_json("\"a\u202eb\u200bc\""), "\"a\\u202eb\\u200bc\"");
  EXPECT_EQ(terminal_json("\"\U000e0041\""), "\"\\udb40\\udc41\"");
}

TEST(TerminalJson, PutsNoByteThatIsNoTextOnATerminal) {
  EXPECT_EQ(terminal_json("\"\x9b\""), "\"\\ufffd\"");
}

}  // namespace
}  // namespace cellblock::cli
