#include "policy/config_reader/config_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace cellblock {
namespace {

using ::testing::HasSubstr;

struct Parsed {
  ConfigText text;
  std::vector<Complaint> complaints;
};

Parsed parse(std::string_view text, FileRole role = FileRole::main) {
  Complaints complaints;
  ConfigText result = parse_config_text(text, "c.toml", role, complaints);
  return {std::move(result), complaints.take_sorted()};
}

TEST(ConfigText, KeepsThePlaceOfEveryValue) {
  const auto [text, complaints] = parse("[server.files]\ncommand = [\"/bin/x\",\n  \"y\"]\n");
  EXPECT_TRUE(complaints.empty());
  ASSERT_EQ(text.servers.size(), 1U);
  const ServerText& server = text.servers.front();
  EXPECT_EQ(server.name.value, "files");
  EXPECT_EQ(server.name.at, (Place{1, 9}));
  ASSERT_TRUE(server.command.has_value());
  EXPECT_EQ(server.command->at, (Place{2, 11}));
  ASSERT_EQ(server.command->value.size(), 2U);
  EXPECT_EQ(server.command->value[1].value, "y");
  EXPECT_EQ(server.command->value[1].at, (Place{3, 3}));
}

TEST(ConfigText, NamesAnUnknownKeyItsPlaceAndANearOne) {
  const auto parsed = parse("[server.files]\nlimits = { memroy = \"1GiB\" }\n");
  ASSERT_EQ(parsed.complaints.size(), 1U);
  const Complaint& complaint = parsed.complaints.front();
  EXPECT_EQ(complaint.key, "server.files.limits.memroy");
  EXPECT_EQ(complaint.line, 2U);
  EXPECT_EQ(complaint.column, 12U);
  EXPECT_THAT(complaint.text, HasSubstr("did you mean \"memory\"?"));
  EXPECT_THAT(complaint.text, HasSubstr("allowed: memory, swap, cpu"));
}

TEST(ConfigText, SuggestsNothingForAWordThatIsLikeNoKey) {
  const auto parsed = parse("[xylophone]\n");
  ASSERT_EQ(parsed.complaints.size(), 1U);
  EXPECT_EQ(parsed.complaints.front().text,
            "unknown key; allowed: daemon, socket, listen, metrics, sandbox, catalogue, aggregate, "
            "flows, "
            "audit, "
            "profile, role, calls, results, redaction, server");
}

TEST(ConfigText, ComplainsAboutEveryWrongTypeAtOnce) {
  struct Row {
    const char* line;
    const char* key;
  };
  const std::array rows = {
      Row{"command = \"/bin/x --flag\"", "server.s.command"},
      Row{"command = [1]", "server.s.command"},
      Row{"read = \"/a\"", "server.s.read"},
      Row{"env = { A = 1 }", "server.s.env.A"},
      Row{"env = \"A=1\"", "server.s.env"},
      Row{"network = true", "server.s.network"},
      Row{"limits = { pids = \"64\" }", "server.s.limits.pids"},
      Row{"limits = { memory = 512 }", "server.s.limits.memory"},
      Row{"limits = { cpu = \"1\" }", "server.s.limits.cpu"},
      Row{"limits = { require = 0 }", "server.s.limits.require"},
      Row{"limits = 7", "server.s.limits"},
      Row{"start = { handshake_timeout = 30 }", "server.s.start.handshake_timeout"},
      Row{"stop = { terminate = 12:00:00 }", "server.s.stop.terminate"},
      Row{"allow = { users = \"alice\" }", "server.s.allow.users"},
      Row{"allow = { users = [1.5] }", "server.s.allow.users"},
      Row{"allow = { tools = [1] }", "server.s.allow.tools"},
      Row{"max_cells_per_user = \"2\"", "server.s.max_cells_per_user"},
  };
  for (const Row& row : rows) {
    const auto parsed = parse(std::string("[server.s]\n") + row.line + "\n");
    ASSERT_EQ(parsed.complaints.size(), 1U) << row.line;
    EXPECT_EQ(parsed.complaints.front().key, row.key) << row.line;
    EXPECT_EQ(parsed.complaints.front().line, 2U) << row.line;
    EXPECT_THAT(parsed.complaints.front().text, HasSubstr("allowed:")) << row.line;
  }
}

TEST(ConfigText, ASyntaxErrorHasItsPlaceAndLeavesNothing) {
  const auto [text, complaints] = parse("[server.files]\ncommand = [\n");
  EXPECT_EQ(text.syntax, Syntax::broken);
  EXPECT_TRUE(text.servers.empty());
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_GE(complaints.front().line, 2U);
}

TEST(ConfigText, TheSameTableTwiceIsASyntaxError) {
  EXPECT_EQ(parse("[server.a]\n[server.a]\n").text.syntax, Syntax::broken);
}

TEST(ConfigText, AServerFileHoldsServersOnly) {
  const auto parsed = parse("[daemon]\n[socket]\n[server.a]\n", FileRole::servers_only);
  ASSERT_EQ(parsed.complaints.size(), 2U);
  EXPECT_EQ(parsed.complaints[0].key, "daemon");
  EXPECT_EQ(parsed.complaints[1].key, "socket");
  EXPECT_EQ(parsed.text.servers.size(), 1U);
}

std::string repeated(std::string_view part, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

TEST(ConfigText, HostileTextIsAComplaintAndNeverAnException) {
  const std::array texts = {
      std::string("\xff\xfe"),
      std::string("a = \"\xc3\""),
      std::string("\0\0\0\0", 4),
      std::string("a = \"\\uD800\""),
      std::string("[[server]]\n"),
      std::string("server = 3"),
      std::string("server.a = 3"),
      std::string("a = 1e999999"),
      std::string("a = 99999999999999999999"),
      std::string("= 1"),
      std::string("[a"),
      std::string("a = '''"),
      std::string("\"\\"),
      "a = " + repeated("[", 100'000),
      "a = " + repeated("{a=", 100'000),
      "a" + repeated(".a", 400'000) + " = 1",
      "a" + repeated(" . a", 400'000) + " = 1",
      "[a" + repeated(".\"a\"", 400'000) + "]",
      "x = '#' \n y = \"\"\"\"\n\"\"\"\"\"\na" + repeated(".a", 400'000) + " = 1",
  };
  for (const std::string& text : texts) {
    EXPECT_FALSE(parse(text).complaints.empty()) << text.substr(0, 40);
  }
}

TEST(ConfigText, DotsInStringsAndCommentsAreNoDepth) {
  const std::string dots = repeated(".", 100);
  const auto parsed = parse("# " + dots + "\n[server.a]\nread = [\"" + dots + "\", '" + dots +
                            "', \"\"\"" + dots + "\"\"\"]\n");
  EXPECT_TRUE(parsed.complaints.empty());
}

TEST(ConfigText, AReportOfManyComplaintsIsBounded) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "unknown" + std::to_string(i) + " = 1\n";
  const auto parsed = parse(text);
  ASSERT_EQ(parsed.complaints.size(), max_complaints + 1);
  EXPECT_EQ(parsed.complaints.back().text, "and 2000 more, not shown");
}

TEST(ConfigText, AComplaintIsOneLineWhateverTheFileSays) {
  const Complaint complaint{Complaint::Severity::error, "f", 1, 2, "a\x1b[2J", "x\ny"};
  EXPECT_EQ(to_line(complaint), "f:1:2: error: a\\x1b[2J: x\\x0ay");
}

}  // namespace
}  // namespace cellblock
