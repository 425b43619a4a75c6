#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "supervisor/gateway/checks/request_gate.h"

namespace cellblock::gateway {
namespace {

struct Waiter final : CallWaiter {
  void place_is_free() override { ++told; }
  int told = 0;
};

std::string request(std::string_view method, std::string_view name) {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":{"name":")" +
         std::string(name) + R"(","arguments":{}}})";
}

class RequestGateTest : public ::testing::Test {
 protected:
  RequestGateTest() {
    config_.servers.resize(1);
    server().name = "files";
  }
  Server& server() { return config_.servers[0]; }

  std::expected<AdmittedRequest, Failure> pass(std::string line) {
    line_ = std::move(line);
    const std::size_t size = line_.size();
    line_.resize(size + MessageScanner::padding);
    message_ = *scanner_.scan(std::string_view(line_).substr(0, size));
    return gate().pass({std::string_view(line_).substr(0, size), message_, now_, waiter_});
  }
  RequestGate& gate() {
    if (!gate_) {
      policy_.emplace(config_);
      gate_.emplace(
          GateParts{.server = server(), .policy = *policy_, .server_index = 0, .session = 12});
    }
    return *gate_;
  }

  Config config_;
  MessageScanner scanner_;
  Message message_;
  Time now_{};
  Waiter waiter_;
  std::string line_;
  std::optional<UserPolicy> policy_;
  std::optional<RequestGate> gate_;
};

TEST_F(RequestGateTest, WhatNothingIsAgainstGoesOnAsItIs) {
  const auto passage = pass(request("tools/call", "read"));
  ASSERT_TRUE(passage);
  EXPECT_TRUE(passage->edits.empty());
  EXPECT_FALSE(passage->place.waits());
}

TEST_F(RequestGateTest, WhatMakesAServerWorkIsCountedAndNothingElse) {
  struct Row {
    const char* method;
    bool is_counted;
  };
  server().calls.bounds.in_flight = 1;
  const auto first = pass(request("tools/call", "read"));
  for (const Row& row :
       {Row{"tools/call", true}, Row{"prompts/get", true}, Row{"completion/complete", true},
        Row{"tools/list", false}, Row{"tasks/get", false}, Row{"logging/setLevel", false}}) {
    EXPECT_EQ(!pass(request(row.method, "a")), row.is_counted) << row.method;
  }
  EXPECT_FALSE(
      pass(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a:b"}})"));
}

TEST_F(RequestGateTest, ARefusalSaysWhenToTryAgain) {
  server().calls.tools = {{.name = "read", .bounds = {.rate = Rate{.burst = 1}}}};
  EXPECT_TRUE(pass(request("tools/call", "read")));
  EXPECT_TRUE(pass(request("prompts/get", "read"))) << "of a tool, not of a prompt of that name";
  const auto refused = pass(request("tools/call", "read"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, FailureCode::rate_limited);
  EXPECT_EQ(refused.error().server, "files");
  EXPECT_EQ(refused.error().retry_after, Milliseconds{1'000});
  EXPECT_TRUE(refused.error().message.ends_with("try again in 1s")) << refused.error().message;
  now_ += *refused.error().retry_after;
  EXPECT_TRUE(pass(request("tools/call", "read")));
}

TEST_F(RequestGateTest, WhatMayWaitHasAPlaceThatWaits) {
  server().calls.bounds.in_flight = 1;
  server().calls.queue.most = 1;
  auto first = pass(request("tools/call", "read"));
  const auto second = pass(request("tools/call", "read"));
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->place.waits());
  first->place = {};
  EXPECT_FALSE(second->place.waits());
  EXPECT_EQ(waiter_.told, 1);
}

}  // namespace
}  // namespace cellblock::gateway
