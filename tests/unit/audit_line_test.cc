#include "supervisor/audit/audit_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cellblock::audit {
namespace {

using std::chrono::milliseconds;

const Stamp stamp{"00ff", 7, std::chrono::system_clock::time_point{milliseconds{1'700'000'000'042}},
                  1000};

template <std::size_t size>
void put(std::array<char, size>& field, std::string_view text) {
  std::copy(text.begin(), text.end(), field.begin());
}

wire::AuditRecord call_record() {
  wire::AuditRecord record;
  record.kind = wire::AuditKind::call;
  record.outcome = wire::AuditOutcome::denied;
  record.pid = 42;
  record.session = 12;
  record.cell = 37;
  record.call = 3;
  record.bytes = 100;
  record.microseconds = 250;
  put(record.server, "files");
  record.server_length = 5;
  put(record.tool, "read_file");
  record.tool_length = 9;
  put(record.reason, "allow.tools");
  return record;
}

TEST(AuditLine, SaysWhatTheRecordSaysUnderTheWritersOwnStamp) {
  EXPECT_EQ(audit_line(call_record(), stamp),
            R"({"boot":"00ff","seq":7,"time":"2023-11-14T22:13:20.042Z","uid":1000,"pid":42,)"
            R"("kind":"call","outcome":"denied","server":"files","session":12,"cell":37,"call":3,)"
            R"("tool":"read_file","reason":"allow.tools","bytes":100,"us":250,"count":1})"
            "\n");
}

TEST(AuditLine, RefusesAKindThatIsNone) {
  auto record = call_record();
  for (const int kind : {0, 12, 255}) {
    record.kind = static_cast<wire::AuditKind>(kind);
    EXPECT_EQ(audit_line(record, stamp), std::nullopt) << kind;
  }
}

TEST(AuditLine, RefusesAnOutcomeThatIsNone) {
  auto record = call_record();
  record.outcome = static_cast<wire::AuditOutcome>(5);
  EXPECT_EQ(audit_line(record, stamp), std::nullopt);
}

TEST(AuditLine, RefusesALengthOverItsField) {
  auto long_server = call_record();
  long_server.server_length = 65;
  EXPECT_EQ(audit_line(long_server, stamp), std::nullopt);
  auto long_tool = call_record();
  long_tool.tool_length = 129;
  EXPECT_EQ(audit_line(long_tool, stamp), std::nullopt);
}

TEST(AuditLine, TakesFieldsThatAreFullToTheLastByte) {
  auto record = call_record();
  record.tool.fill('t');
  record.tool_length = 128;
  const auto line = nlohmann::json::parse(audit_line(record, stamp).value());
  EXPECT_EQ(line.at("tool"), std::string(128, 't'));
}

TEST(AuditLine, RefusesAReasonWithoutAnEnd) {
  auto record = call_record();
  record.reason.fill('r');
  EXPECT_EQ(audit_line(record, stamp), std::nullopt);
}

TEST(AuditLine, KeepsAHostileNameFromForgingALineOrATerminalSequence) {
  auto record = call_record();
  const std::string_view name = "a\"}\n\x1b[2J\xff\xc3\xa9";
  put(record.tool, name);
  record.tool_length = static_cast<std::uint8_t>(name.size());
  const std::string line = audit_line(record, stamp).value();
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_TRUE(std::all_of(line.begin(), line.end() - 1,
                          [](char byte) { return byte >= ' ' && byte <= '~'; }));
  EXPECT_EQ(nlohmann::json::parse(line).at("tool"), "a\"}\n\x1b[2J\uFFFD\u00e9");
}

}  // namespace
}  // namespace cellblock::audit
