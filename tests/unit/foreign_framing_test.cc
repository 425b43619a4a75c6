#include "policy/mcp/foreign_framing.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellblock {
namespace {

using enum ForeignFraming;
using std::string_literals::operator""s;

constexpr std::string_view answer = R"({"result":{},"id":1,"jsonrpc":"2.0"})";
constexpr std::string_view notification =
    R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})";

std::string wide(std::string_view text, bool little_endian) {
  std::string bytes;
  for (const char unit : text) {
    if (!little_endian) bytes += '\0';
    bytes += unit;
    if (little_endian) bytes += '\0';
  }
  return bytes;
}

FramingDetector::Found found_in(const std::vector<std::string>& lines) {
  FramingDetector detector;
  FramingDetector::Found found;
  for (const std::string& line : lines) {
    if (!found) found = detector.line(line);
  }
  return found;
}

std::string marked(std::string_view text) { return std::string(utf8_byte_order_mark) += text; }

TEST(ForeignFraming, IsAByteOrderMarkBeforeAnAnswer) {
  EXPECT_EQ(found_in({marked(answer)}), byte_order_mark);
  EXPECT_EQ(found_in({"Welcome", marked(answer)}), byte_order_mark);
}

TEST(ForeignFraming, IsNoMarkBeforeAGreetingOrANotification) {
  EXPECT_EQ(found_in({marked("Welcome"), marked(notification), marked("")}), std::nullopt);
}

TEST(ForeignFraming, IsUtf16OfEitherByteOrderWithAndWithoutAMark) {
  EXPECT_EQ(found_in({wide(answer, true)}), utf16);
  EXPECT_EQ(found_in({wide(answer, false)}), utf16);
  EXPECT_EQ(found_in({"\xff\xfe" + wide(answer, true)}), utf16);
  EXPECT_EQ(found_in({"\xfe\xff" + wide(answer, false)}), utf16);
}

TEST(ForeignFraming, IsUtf16BehindALineWhoseNewlineLeftAByte) {
  EXPECT_EQ(found_in({wide("Welcome", true), "\0"s + wide(answer, true)}), utf16);
}

TEST(ForeignFraming, IsNoUtf16WhereAnotherProgramGreetsInIt) {
  EXPECT_EQ(found_in({"\xff\xfe" + wide("Windows Subsystem", true), "", "\0"s}), std::nullopt);
}

TEST(ForeignFraming, IsABodyWithoutItsNewlineBehindHeaders) {
  for (const std::string header : {"Content-Length: 36\r", "content-length:36"}) {
    FramingDetector detector;
    EXPECT_EQ(detector.line(header), std::nullopt);
    EXPECT_FALSE(detector.awaits_body());
    EXPECT_EQ(detector.line("Content-Type: application/vscode-jsonrpc; charset=utf-8\r"),
              std::nullopt);
    EXPECT_EQ(detector.line("\r"), std::nullopt);
    ASSERT_TRUE(detector.awaits_body());
    EXPECT_EQ(detector.unfinished(answer.substr(0, 35)), std::nullopt);
    EXPECT_EQ(detector.unfinished(answer), content_length);
  }
}

TEST(ForeignFraming, IsABodyWithTheNextHeaderOnItsLine) {
  EXPECT_EQ(found_in({"Content-Length: 36", "", std::string(answer) + "Content-Length: 36"}),
            content_length);
}

TEST(ForeignFraming, IsNotABodyThatEndsWithANewline) {
  FramingDetector detector;
  EXPECT_EQ(detector.line("Content-Length: 36"), std::nullopt);
  EXPECT_EQ(detector.line(""), std::nullopt);
  EXPECT_EQ(detector.line(answer), std::nullopt);
  EXPECT_FALSE(detector.awaits_body());
}

TEST(ForeignFraming, IsNotTheHeadersThatAServerLogs) {
  FramingDetector detector;
  for (const std::string line : {"HTTP/1.1 200 OK", "Content-Length: 2", ""}) {
    EXPECT_EQ(detector.line(line), std::nullopt);
  }
  EXPECT_FALSE(detector.awaits_body());
}

TEST(ForeignFraming, HasNoBodyWhoseLengthIsNoNumber) {
  FramingDetector detector;
  for (const std::string line : {"Content-Length: -1", "Content-Length: x", ""}) {
    EXPECT_EQ(detector.line(line), std::nullopt);
  }
  EXPECT_FALSE(detector.awaits_body());
}

}  // namespace
}  // namespace cellblock
