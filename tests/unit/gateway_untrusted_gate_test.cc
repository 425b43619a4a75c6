#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/config/server_list.h"
#include "supervisor/gateway/checks/untrusted_gate.h"

namespace cellblock::gateway {
namespace {

const std::string hidden = R"({"content":[{"type":"text","text":"a\u200bb"}]})";

class UntrustedGateTest : public ::testing::Test {
 protected:
  UntrustedGateTest() {
    server().name = "web";
    server().network = NetworkMode::egress;
    server().results.bounds.untrusted = UntrustedText::strip;
  }

  Server& server() { return config_.servers[0]; }

  struct Answered {
    std::string line;
    FoundCounts found;
  };
  Answered answer(const Call& call, const std::string& part, std::vector<Replacement> edits = {}) {
    std::string padded = R"({"jsonrpc":"2.0","id":7,)" + part + "}";
    const std::size_t size = padded.size();
    padded.resize(size + MessageScanner::padding);
    const std::string_view line = std::string_view(padded).substr(0, size);
    const Message message = *scanner_.scan(line);
    gate_.mark_answer(line, message, call, edits);
    const EditedMessage edited(line, std::move(edits));
    EXPECT_TRUE(edited.is_sound());
    return {edited.flatten(), gate_.take_found()};
  }
  bool is_marked(const Call& call) { return !answer(call, R"("result":)" + hidden).found.empty(); }
  static Call call_of(CallKind kind, const std::string& tool = "") {
    Call call;
    call.kind = kind;
    (kind == CallKind::tool_call ? call.tool : call.task_tool) = tool;
    return call;
  }

  Config config_ = [] {
    Config config;
    config.servers.resize(1);
    return config;
  }();
  MessageScanner scanner_;
  Redactions redactions_{config_};
  UntrustedGate gate_{redactions_, 0, config_.servers[0]};
};

const Call fetch = [] {
  Call call;
  call.kind = CallKind::tool_call;
  call.tool = "fetch";
  return call;
}();

TEST_F(UntrustedGateTest, TakesOutWhatIsHiddenAndCountsIt) {
  const Answered answered = answer(fetch, R"("result":)" + hidden);
  EXPECT_TRUE(answered.line.contains(R"("text":"ab")")) << answered.line;
  EXPECT_TRUE(answered.line.contains("cellblock/marked")) << answered.line;
  EXPECT_EQ(answered.found, (FoundCounts{{"invisible_characters", 1}}));
  const FoundCounts* all = redactions_.found(0, Direction::to_host);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(*all, answered.found) << "what status shows";
}

TEST_F(UntrustedGateTest, LooksForPersonalDataThatOnlyTakingOutMakesWhole) {
  server().redaction.detectors = {{"email", {RedactionAction::off, RedactionAction::redact}}};
  redactions_.reconfigure();
  const std::string part =
      R"("result":{"content":[{"type":"text","text":"me@exam\u200bple.org"}]})";
  const Answered answered = answer(fetch, part);
  EXPECT_TRUE(answered.line.contains(R"("text":"[redacted: email]")")) << answered.line;
  EXPECT_EQ(answered.found, (FoundCounts{{"email", 1}, {"invisible_characters", 1}}));
  EXPECT_EQ(*redactions_.found(0, Direction::to_host), answered.found);
}

TEST_F(UntrustedGateTest, LooksAtErrorsToo) {
  const Answered answered = answer(fetch, R"("error":{"code":-1,"message":"a<|im_end|>"})");
  EXPECT_TRUE(answered.line.contains(R"("error":{"code":-1,"message":"a"})")) << answered.line;
  EXPECT_EQ(answered.found, (FoundCounts{{"chat_tokens", 1}}));
}

TEST_F(UntrustedGateTest, KeepsWhatOthersDidToTheResult) {
  const std::string part = R"("result":)" + hidden;
  const auto begin =
      static_cast<std::uint32_t>((R"({"jsonrpc":"2.0","id":7,)" + part).find("content") - 1);
  const Answered answered = answer(fetch, part, {{{begin, begin}, R"("x":"[redacted: card]",)"}});
  EXPECT_TRUE(answered.line.contains(R"({"x":"[redacted: card]","content":[)")) << answered.line;
  EXPECT_TRUE(answered.line.contains(R"("ab")"));
}

TEST_F(UntrustedGateTest, LeavesToolsWithoutTheLabelAlone) {
  server().flows.untrusted = std::vector<NamePattern>{{.text = "fetch", .is_prefix = false}};
  EXPECT_TRUE(is_marked(fetch));
  EXPECT_FALSE(is_marked(call_of(CallKind::tool_call, "version")));
  server().flows.untrusted = std::vector<NamePattern>{};
  EXPECT_FALSE(is_marked(fetch));
  EXPECT_FALSE(is_marked(call_of(CallKind::resource_read)));
}

TEST_F(UntrustedGateTest, HasNothingToLookForInAServerThatReachesNobody) {
  server().network = NetworkMode::none;
  EXPECT_FALSE(is_marked(fetch));
}

TEST_F(UntrustedGateTest, LooksAtResourcesPromptsAndTasksWhereAnyToolHasTheLabel) {
  server().flows.untrusted = std::vector<NamePattern>{{.text = "fetch", .is_prefix = false}};
  for (const CallKind kind : {CallKind::resource_read, CallKind::prompt_get, CallKind::task_result,
                              CallKind::task_state}) {
    EXPECT_TRUE(is_marked(call_of(kind)));
  }
  EXPECT_TRUE(is_marked(call_of(CallKind::task_result, "fetch")));
  EXPECT_FALSE(is_marked(call_of(CallKind::task_result, "version")));
  EXPECT_FALSE(is_marked(call_of(CallKind::tools_list)));
}

TEST_F(UntrustedGateTest, DoesWhatTheToolSaysAndOfAnUnknownOneTheStrictest) {
  server().results.tools.push_back({"fetch", server().results.bounds});
  server().results.bounds.untrusted = UntrustedText::pass;
  EXPECT_TRUE(is_marked(fetch));
  EXPECT_FALSE(is_marked(call_of(CallKind::tool_call, "other")));
  EXPECT_FALSE(is_marked(call_of(CallKind::resource_read)));
  EXPECT_TRUE(is_marked(call_of(CallKind::task_state)));
}

TEST_F(UntrustedGateTest, MarksWhatANotificationSaysOfATask) {
  const std::string line = R"({"params":{"taskId":"x","result":)" + hidden + "}}";
  const Span state{10, static_cast<std::uint32_t>(line.size() - 1)};
  std::vector<Replacement> edits;
  gate_.mark_task(line, state, "fetch", edits);
  ASSERT_EQ(edits.size(), 1U);
  EXPECT_TRUE(edits[0].text.starts_with(R"({"taskId":"x","result":{"content":[{"type")"));
  EXPECT_TRUE(edits[0].text.contains(R"("ab")"));
  EXPECT_EQ(gate_.take_found(), (FoundCounts{{"invisible_characters", 1}}));
}

}  // namespace
}  // namespace cellblock::gateway
