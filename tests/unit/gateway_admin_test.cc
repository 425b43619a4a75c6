#include <gmock/gmock.h>

#include "tests/unit/gateway_rig.h"

/// An administrator on the door to a user's gateway.
namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;

class GatewayAdmin : public GatewayRig {
 protected:
  GatewayAdmin() = default;

  Lines admin(std::uint32_t whose = user) {
    return connect({.via = wire::SessionVia::admin, .uid = 0, .user = whose});
  }

  static Json asked(Lines& lines, const std::string& method, const std::string& params = "{}") {
    lines.send(R"({"jsonrpc":"2.0","id":9,"method":")" + method + R"(","params":)" + params + "}");
    return lines.read_json();
  }

  void ask_about_pushes() {
    Rule asks{.name = "rule[1]", .effect = Effect::ask, .uids = {user}};
    asks.tools = {{"push", false}};
    config_.servers[0].rules.push_back(asks);
  }
};

TEST_F(GatewayAdmin, SeesWhatTheUserSees) {
  start();
  Lines host = connect();
  const Json own = asked(host, "cellblock/status")["result"];
  Lines visit = admin();
  const Json seen = asked(visit, "cellblock/status")["result"];
  ASSERT_EQ(seen["servers"].size(), 1U);
  EXPECT_EQ(seen["servers"][0]["name"], "files");
  EXPECT_EQ(seen["servers"], own["servers"]);
}

TEST_F(GatewayAdmin, UsesNoServer) {
  start();
  Lines host = connect();
  Lines visit = admin();
  EXPECT_EQ(asked(visit, "cellblock/attach", R"({"server":"files"})")["error"]["data"]["code"],
            "denied");
  EXPECT_EQ(asked(visit, "tools/list")["error"]["data"]["code"], "denied");
  EXPECT_EQ(asked(visit, "initialize")["error"]["data"]["code"], "denied");
}

TEST_F(GatewayAdmin, OfAnotherUsersGatewayIsAMistakeThatEndsThisOne) {
  start();
  Lines host = connect();
  Lines visit = admin(user + 1);
  EXPECT_TRUE(visit.at_end());
  EXPECT_TRUE(host.at_end());
}

TEST_F(GatewayAdmin, ApprovesACallThatWaits) {
  ask_about_pushes();
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  Lines visit = admin();
  host.send(
      R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"push","arguments":{"to":"a"}}})");
  Json waiting;
  while (waiting.empty()) waiting = asked(visit, "cellblock/approvals")["result"]["approvals"];
  EXPECT_EQ(waiting[0]["server"], "files");
  EXPECT_EQ(waiting[0]["name"], "push");
  EXPECT_EQ(waiting[0]["arguments"], R"({"to":"a"})");
  const std::string word =
      R"({"approval":)" + waiting[0]["approval"].dump() + R"(,"word":"allow"})";
  EXPECT_EQ(asked(host, "cellblock/approve", word)["error"]["data"]["code"], "denied")
      << "whoever asks does not approve";
  EXPECT_EQ(asked(visit, "cellblock/approve", word)["result"]["decided"], true);
  EXPECT_EQ(cell.mcp.read_json()["params"]["name"], "push");
  EXPECT_EQ(asked(visit, "cellblock/approve", word)["result"]["decided"], false) << "only once";
}

TEST_F(GatewayAdmin, ApprovesWhatWasLookedAtAndNothingElse) {
  ask_about_pushes();
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  Lines visit = admin();
  host.send(
      R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"push","task":{"ttl":1}}})");
  Json listed;
  while (listed.empty()) listed = asked(visit, "cellblock/approvals")["result"]["approvals"];
  EXPECT_EQ(listed[0]["besides"][0], "task");
  EXPECT_FALSE(listed[0].contains("params"));
  const std::string number = listed[0]["approval"].dump();
  const Json whole = asked(visit, "cellblock/approvals", R"({"approval":)" + number + "}");
  const Json& call = whole["result"]["approvals"][0];
  EXPECT_EQ(call["params"], R"({"name":"push","task":{"ttl":1}})");
  const auto allow = [&](const std::string& digest) {
    return asked(visit, "cellblock/approve",
                 R"({"word":"allow","approval":)" + number + R"(,"digest":")" + digest + "\"}");
  };
  EXPECT_EQ(allow(std::string(64, '0'))["result"]["decided"], false);
  EXPECT_EQ(allow("0")["error"]["data"]["code"], "invalid_request");
  EXPECT_EQ(allow(call["digest"])["result"]["decided"], true);
  EXPECT_EQ(cell.mcp.read_json()["params"]["name"], "push");
}

TEST_F(GatewayAdmin, DeniesACallThatWaits) {
  ask_about_pushes();
  start();
  Lines host = connect();
  const FakeCell cell = attach_host(host);
  Lines visit = admin();
  host.send(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"push"}})");
  Json waiting;
  while (waiting.empty()) waiting = asked(visit, "cellblock/approvals")["result"]["approvals"];
  asked(visit, "cellblock/approve",
        R"({"approval":)" + waiting[0]["approval"].dump() + R"(,"word":"deny"})");
  const Json reply = host.read_json();
  EXPECT_EQ(reply["result"]["_meta"]["cellblock/error"]["code"], "approval_required");
  EXPECT_THAT(std::string(reply["result"]["content"][0]["text"]), HasSubstr("denied"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
