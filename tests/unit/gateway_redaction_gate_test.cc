#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/config/server_list.h"
#include "policy/redaction/secret_marks.h"
#include "supervisor/gateway/checks/redaction_gate.h"

namespace cellblock::gateway {
namespace {

using enum RedactionAction;

const std::string secret = "hunter2-hunter2";

class RedactionGateTest : public ::testing::Test {
 protected:
  static Config config_of_one() {
    Config config;
    Server& server = config.servers.emplace_back();
    server.name = "files";
    server.secrets.resize(1);
    server.secrets[0].name = "TOKEN";
    server.secret_marks = mark_secrets(std::vector<std::string>{secret}, {1, 2});
    server.redaction.detectors = {{"card", {block, redact}}, {"email", {redact, block}}};
    return config;
  }

  struct Passed {
    std::string line;  ///< as it goes on; or why it does not
    FoundCounts found;
  };
  Passed pass(Direction direction, const std::string& line, std::vector<Replacement> edits = {}) {
    std::string padded = line;
    padded.resize(line.size() + MessageScanner::padding);
    const std::string_view read = std::string_view(padded).substr(0, line.size());
    const Message message = *scanner_.scan(read);
    for (Replacement& edit : edits) {
      if (edit.where.empty()) edit.where = message.result;
    }
    const auto passed = gate_.pass(direction, read, message, edits);
    FoundCounts found = gate_.take_found();
    if (!passed) return {passed.error().message, found};
    const EditedMessage edited(read, edits);
    EXPECT_TRUE(edited.is_sound());
    std::string text = edited.flatten();
    text.pop_back();
    return {text, found};
  }

  Config config_ = config_of_one();
  MessageScanner scanner_;
  Redactions redactions_{config_};
  RedactionGate gate_{redactions_, 0, config_.servers[0]};
};

std::string call(const std::string& name, const std::string& note) {
  return R"({"jsonrpc":"2.0","id":"me@example.org","method":"tools/call","params":{"name":")" +
         name + R"(","arguments":{"note":")" + note +
         R"("},"_meta":{"progressToken":"me@example.org"}}})";
}
std::string result(const std::string& text) {
  return R"({"jsonrpc":"2.0","id":"me@example.org","result":)" + text + "}";
}

TEST_F(RedactionGateTest, RedactsArgumentsAndLeavesIdsAndTokensAlone) {
  const Passed passed = pass(Direction::to_server, call("t", "to me@example.org"));
  EXPECT_EQ(passed.line, call("t", "to [redacted: email]"));
  EXPECT_EQ(passed.found, (FoundCounts{{"email", 1}}));
}

TEST_F(RedactionGateTest, BlocksWithoutTheTextInTheFailure) {
  const Passed passed = pass(Direction::to_server, call("t", "4111111111111111"));
  EXPECT_EQ(passed.line, "what was sent holds what may not go to \"files\": card 1");
  EXPECT_EQ(passed.found, (FoundCounts{{"card", 1}}));
}

TEST_F(RedactionGateTest, BlocksWhatWouldBecomeAnotherName) {
  EXPECT_TRUE(pass(Direction::to_server, call("me@example.org", "")).line.contains("may not go"));
}

TEST_F(RedactionGateTest, RedactsAResultThatWasWrittenAnew) {
  const Passed passed = pass(Direction::to_host, result(R"({"tools":[]})"),
                             {{{},
                               R"({"tools":[{"name":"t","description":"has hunter2-hunter2"}],)"
                               R"("nextCursor":"4111111111111111"})"}});
  EXPECT_EQ(passed.line, result(R"({"tools":[{"name":"t","description":"has [redacted: TOKEN]"}],)"
                                R"("nextCursor":"4111111111111111"})"));
}

TEST_F(RedactionGateTest, RedactsTheSecretsOfAServerThatIsLeftOutUntilItsCellsAreGone) {
  EXPECT_EQ(redactions_.clean(0, "key: hunter2-hunter2"), "key: [redacted: TOKEN]");
  leave_out(config_.servers[0], {.cause = "read: it is gone"});
  redactions_.reconfigure();
  EXPECT_EQ(redactions_.clean(0, "key: hunter2-hunter2"), "key: [redacted: TOKEN]");
}

TEST_F(RedactionGateTest, LooksAtWhatAServerPutsUnderTheNamesOfTheProtocol) {
  for (const char* member :
       {R"("requestId":")", R"("progressToken":")", R"("cursor":")", R"("requestState":")",
        R"("capabilities":{"a":")", R"("_meta":{"progressToken":")",
        R"("_meta":{"io.modelcontextprotocol/clientCapabilities":{"a":")",
        R"("_meta":{"io.modelcontextprotocol/subscriptionId":")", R"("data":{"requestId":")"}) {
    const std::string begin =
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{)" + std::string(member);
    const std::string end =
        "\"}" + std::string(static_cast<std::size_t>(std::ranges::count(begin, '{')) - 1, '}');
    EXPECT_EQ(pass(Direction::to_host, begin + secret + end).line,
              begin + "[redacted: TOKEN]" + end);
  }
  EXPECT_EQ(
      pass(Direction::to_host, result(R"({"structuredContent":{"requestId":"hunter2-hunter2",)"
                                      R"("capabilities":{"x":"hunter2-hunter2"}}})"))
          .line,
      result(R"({"structuredContent":{"requestId":"[redacted: TOKEN]",)"
             R"("capabilities":{"x":"[redacted: TOKEN]"}}})"));
}

TEST_F(RedactionGateTest, SparesCapabilitiesOfAHostOnlyWhereItIntroducesItself) {
  const auto request = [](const std::string& method, const std::string& name) {
    return R"({"jsonrpc":"2.0","id":1,"method":")" + method +
           R"(","params":{"capabilities":{"a":")" + name + R"("}}})";
  };
  const std::string mail = "me@example.org";
  EXPECT_EQ(pass(Direction::to_server, request("initialize", mail)).line,
            request("initialize", mail));
  EXPECT_EQ(pass(Direction::to_server, request("tools/call", mail)).line,
            request("tools/call", "[redacted: email]"));
}

TEST_F(RedactionGateTest, LetsNoMethodPassThatHasSomethingInIt) {
  const auto named = [](const std::string& name) {
    return R"({"jsonrpc":"2.0","method":"notifications/)" + name + R"(","params":{}})";
  };
  EXPECT_EQ(pass(Direction::to_host, named("other")).line, named("other"));
  const Passed passed = pass(Direction::to_host, named(secret));
  EXPECT_EQ(passed.line, "the answer of \"files\" holds what may not be handed on: in its method");
  EXPECT_EQ(passed.found, (FoundCounts{{"TOKEN", 1}}));
}

TEST_F(RedactionGateTest, CountsByDirectionWhatWasFound) {
  pass(Direction::to_host, result(R"(["4111111111111111","hunter2-hunter2"])"));
  pass(Direction::to_host, result(R"(["hunter2-hunter2"])"));
  pass(Direction::to_server, call("t", secret));
  EXPECT_EQ(*redactions_.found(0, Direction::to_host), (FoundCounts{{"TOKEN", 2}, {"card", 1}}));
  EXPECT_EQ(*redactions_.found(0, Direction::to_server), (FoundCounts{{"TOKEN", 1}}));
  EXPECT_EQ(redactions_.clean(0, "log: hunter2-hunter2 me@example.org"),
            "log: [redacted: TOKEN] [redacted: email]");
}

TEST_F(RedactionGateTest, LetsNothingPassThatCannotBeLookedAt) {
  config_.servers[0].redaction.expressions = {{"broken", "(", {log, log}}};
  EXPECT_TRUE(pass(Direction::to_host, result("[]")).line.contains("may not be handed on"));
  EXPECT_EQ(redactions_.clean(0, "text"), "[redacted]");
  EXPECT_EQ(redactions_.clean_json(0, "{}"), std::nullopt);
  EXPECT_TRUE(redactions_.watches_host(0));
}

}  // namespace
}  // namespace cellblock::gateway
