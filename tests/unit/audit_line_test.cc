#include "supervisor/audit/audit_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cellblock::audit {
namespace {

using std::chrono::milliseconds;

const WallTime time{milliseconds{1'700'000'000'042}};
const Stamp stamp{"00ff", "2023-11-14T22:13:20.042Z", 1000, 0xabc};
const Stamp supervisors{"00ff", "2023-11-14T22:13:20.042Z", 0, 0xabd, RecordOrigin::supervisor};

std::optional<std::string> audit_line(const wire::AuditRecord& record, const Stamp& by,
                                      std::string_view text = {}) {
  auto fields = record_fields(record, text, by);
  if (fields) *fields = "{\"seq\":7" + *fields + "}";
  return fields;
}

template <std::size_t size>
void put(std::array<char, size>& field, std::string_view text) {
  std::copy(text.begin(), text.end(), field.begin());
}

wire::AuditRecord call_record() {
  wire::AuditRecord record;
  record.kind = wire::AuditKind::call;
  record.outcome = wire::AuditOutcome::denied;
  record.pid = 42;
  record.number = 9;
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
            R"({"seq":7,"boot":"00ff","time":"2023-11-14T22:13:20.042Z","uid":1000,)"
            R"("gateway":"0000000000000abc","n":9,"pid":42,"kind":"call","outcome":"denied",)"
            R"("server":"files","session":12,"cell":37,"call":3,"tool":"read_file",)"
            R"("reason":"allow.tools","bytes":100,"us":250,"count":1})");
}

TEST(AuditLine, HasTheTextBehindARecordUnderTheNameOfItsKind) {
  const auto call =
      nlohmann::json::parse(audit_line(call_record(), stamp, "{\"a\":\"\u00e9\"}").value());
  EXPECT_EQ(call["arguments"], "{\"a\":\"\u00e9\"}");
  auto record = call_record();
  record.kind = wire::AuditKind::switched;
  const auto switched = nlohmann::json::parse(audit_line(record, supervisors, "a fire").value());
  EXPECT_EQ(switched["kind"], "switched");
  EXPECT_EQ(switched["text"], "a fire");
  record.kind = wire::AuditKind::pin;
  EXPECT_EQ(audit_line(record, stamp, "a text"), std::nullopt) << "no honest gateway sends it";
}

TEST(AuditLine, TellsOfASwitchOnlyFromTheSupervisorAndOfNothingElse) {
  auto record = call_record();
  EXPECT_FALSE(audit_line(record, supervisors));
  record.kind = wire::AuditKind::switched;
  EXPECT_TRUE(audit_line(record, supervisors));
  EXPECT_FALSE(audit_line(record, stamp)) << "a gateway that somebody has taken over";
}

TEST(AuditLine, IsAsciiWhateverTheTextIs) {
  const std::string line = audit_line(call_record(), stamp, "\x1b[2J\n\xff\u202e").value();
  EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << line;
  EXPECT_TRUE(nlohmann::json::accept(line));
}

TEST(AuditLine, TellsTheDigestOfACallsArgumentsWhereThereIsOne) {
  auto record = call_record();
  record.arguments.fill(0xab);
  const auto line = nlohmann::json::parse(audit_line(record, stamp).value());
  std::string expected;
  for (int i = 0; i < 32; ++i) expected += "ab";
  EXPECT_EQ(line.at("arguments_sha256"), expected);
}

TEST(AuditLine, TellsTheCallersSpanWhereItNamedOne) {
  auto record = call_record();
  EXPECT_FALSE(nlohmann::json::parse(audit_line(record, stamp).value()).contains("traceparent"));
  constexpr std::string_view span = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  std::ranges::copy(span, record.traceparent.begin());
  EXPECT_EQ(nlohmann::json::parse(audit_line(record, stamp).value()).at("traceparent"), span);
}

TEST(AuditLine, RefusesARecordWhoseSpanIsNone) {
  auto record = call_record();
  record.traceparent.fill('"');
  EXPECT_EQ(audit_line(record, stamp), std::nullopt);
}

TEST(AuditLine, RefusesARecordWithoutANumber) {
  auto record = call_record();
  record.number = 0;
  EXPECT_EQ(audit_line(record, stamp), std::nullopt);
}

TEST(AuditLine, AnOpeningSaysWhatItIsChainedToAndWhatWasTorn) {
  const auto whole = opening_fields({.reason = "created", .former = {}, .torn = {}}, "00ff", time);
  EXPECT_EQ(whole, R"(,"boot":"00ff","time":"2023-11-14T22:13:20.042Z","kind":"log_opened",)"
                   R"("reason":"created","previous":")" +
                       std::string(64, '0') + R"(","format":2)");
  const auto torn = opening_fields({.reason = "continued", .former = {}, .torn = "{\"s"}, "", time);
  EXPECT_THAT(torn, ::testing::EndsWith(R"(,"torn_bytes":3,"torn_sha256":")" +
                                        hex_of(sha256("{\"s")) + '"'));
}

TEST(AuditLine, NamesTheMethodOfWhatIsNoTool) {
  auto record = call_record();
  EXPECT_EQ(audit_line(record, stamp)->find("method"), std::string::npos);
  record.method = wire::AuditMethod::resources_read;
  EXPECT_NE(audit_line(record, stamp)->find(R"(,"method":"resources/read")"), std::string::npos);
  record.method = static_cast<wire::AuditMethod>(3);
  EXPECT_EQ(audit_line(record, stamp), std::nullopt);
}

TEST(AuditLine, RefusesAKindThatIsNone) {
  auto record = call_record();
  for (const int kind : {0, 17, 255}) {
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
  EXPECT_TRUE(
      std::all_of(line.begin(), line.end(), [](char byte) { return byte >= ' ' && byte <= '~'; }));
  EXPECT_EQ(nlohmann::json::parse(line).at("tool"), "a\"}\n\x1b[2J\uFFFD\u00e9");
}

}  // namespace
}  // namespace cellblock::audit
