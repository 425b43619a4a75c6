#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "policy/config_bytes.h"
#include "policy/reload/merge.h"
#include "tests/unit/gateway_rig.h"

// A gateway that is sent another configuration while sessions are open.

namespace cellblock::gateway::testing {
namespace {

using ::testing::HasSubstr;
using wire::CellEventKind;

constexpr std::string_view ping = R"({"jsonrpc":"2.0","id":0,"method":"ping"})";

std::string call(int id, std::string_view tool) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
         R"(,"method":"tools/call","params":{"name":")" + std::string(tool) + R"("}})";
}

std::string answer_to(const Json& request) {
  return R"({"jsonrpc":"2.0","id":)" + request["id"].dump() + R"(,"result":{"content":[]}})";
}

class GatewayReconfigure : public GatewayRig {
 protected:
  // What is said to it after this finds the new configuration: a connection that was made later has
  // been answered.
  void reconfigure(Config fresh) {
    fresh = merged(config_, std::move(fresh));
    const Fd sealed = make_sealed("config", encode(fresh)).value();
    const wire::SessionGrant grant{.kind = wire::SupervisorSends::config, .uid = user};
    const int fd = sealed.get();
    ASSERT_TRUE(send_record(supervisor_.get(), grant, std::span(&fd, 1)));
    config_ = fresh;
    Lines later = connect();
    later.send(
        R"({"jsonrpc":"2.0","id":"l","method":"cellblock/attach","params":{"server":"nowhere"}})");
    EXPECT_EQ(later.read_json()["error"]["code"], -31001);
  }

  // For one user, of one tool; none: nobody.
  static std::vector<Rule> rules(Effect effect) {
    if (effect == Effect::deny) return {short_form({user}, {}, {{"other", false}})};
    std::vector<Rule> made = {short_form({user}, {}, {{"read_", true}})};
    made[0].effect = effect;
    made[0].approver = Approver::admin;
    return made;
  }

  static bool is_refused(const Json& answer) {
    return answer.contains("error") || answer["result"].value("isError", false);
  }
};

TEST_F(GatewayReconfigure, TheNewRuleDecidesTheNextCallWhateverTheOldOneWas) {
  config_.servers[0].rules = rules(Effect::allow);
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  int id = 0;
  const std::vector<Effect> effects = {Effect::allow, Effect::deny,  Effect::allow, Effect::deny,
                                       Effect::deny,  Effect::allow, Effect::allow};
  for (const Effect effect : effects) {
    Config next = config_;
    next.servers[0].rules = rules(effect);
    reconfigure(next);
    host.send(call(++id, "read_x"));
    if (effect == Effect::allow) cell.mcp.send(answer_to(cell.mcp.read_json()));
    EXPECT_EQ(is_refused(host.read_json()), effect == Effect::deny) << "call " << id;
  }
}

TEST_F(GatewayReconfigure, ACallInFlightIsAnsweredUnderTheRulesThatItBeganWith) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(call(1, "read_x"));
  const Json request = cell.mcp.read_json();
  Config next = config_;
  next.servers[0].rules = rules(Effect::deny);
  reconfigure(next);
  cell.mcp.send(answer_to(request));
  EXPECT_TRUE(host.read_json().contains("result"));
}

TEST_F(GatewayReconfigure, ASessionWhoseServerIsGoneEndsWithAnError) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(call(1, "read_x"));
  cell.mcp.read_json();
  Config next = config_;
  next.servers.erase(next.servers.begin());
  reconfigure(next);
  EXPECT_TRUE(is_refused(host.read_json()));
  EXPECT_TRUE(host.at_end());
  EXPECT_TRUE(cell.mcp.at_end()) << "it is to end";
}

TEST_F(GatewayReconfigure, AnotherServersSessionNoticesNothing) {
  config_.servers[1].rules = config_.servers[0].rules;
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  Config next = config_;
  next.servers.erase(next.servers.begin() + 1);
  next.servers.push_back(config_.servers[0]);
  next.servers.back().name = "late";
  reconfigure(next);
  host.send(call(1, "read_x"));
  cell.mcp.send(answer_to(cell.mcp.read_json()));
  EXPECT_EQ(host.read_json()["id"], 1);
}

TEST_F(GatewayReconfigure, ANewServerCanBeAttachedTo) {
  start();
  Config next = config_;
  next.servers.push_back(config_.servers[0]);
  next.servers.back().name = "late";
  reconfigure(next);
  Lines host = connect();
  host.send(R"({"jsonrpc":"2.0","id":"a","method":"cellblock/attach","params":{"server":"late"}})");
  const FakeCell cell = start_cell();
  EXPECT_EQ(host.read_json()["result"]["server"], "late");
}

TEST_F(GatewayReconfigure, AServerThatComesBackHasItsOldPlace) {
  start();
  Config without = config_;
  const Server first = config_.servers[0];
  without.servers.erase(without.servers.begin());
  reconfigure(without);
  Config again = config_;
  again.servers = {first, config_.servers[1]};
  reconfigure(again);
  EXPECT_EQ(config_.servers[0].name, "files");
  Lines host = connect();
  FakeCell cell = attach_host(host);
  host.send(ping);
  cell.mcp.send(answer_to(cell.mcp.read_json()));
  EXPECT_EQ(host.read_json()["id"], 0);
}

TEST_F(GatewayReconfigure, ANarrowerBoundHoldsForCallsThatBeginUnderIt) {
  start();
  Lines host = connect();
  FakeCell cell = attach_host(host);
  Config next = config_;
  next.servers[0].calls.bounds.in_flight = 1;
  reconfigure(next);
  host.send(call(1, "read_x"));
  const Json first = cell.mcp.read_json();
  host.send(call(2, "read_x"));
  EXPECT_TRUE(is_refused(host.read_json()));
  cell.mcp.send(answer_to(first));
  EXPECT_EQ(host.read_json()["id"], 1);
  host.send(call(3, "read_x"));
  cell.mcp.send(answer_to(cell.mcp.read_json()));
  EXPECT_EQ(host.read_json()["id"], 3);
}

TEST_F(GatewayReconfigure, WhoIsNoAdministratorAnyMoreLosesTheConnectionThatIsOpen) {
  config_.admins = {7, 8};
  start();
  Lines removed = connect({.via = wire::SessionVia::admin, .uid = 7, .user = user});
  Lines kept = connect({.via = wire::SessionVia::admin, .uid = 8, .user = user});
  Lines root = connect({.via = wire::SessionVia::admin, .uid = 0, .user = user});
  const auto is_answered = [](Lines& lines) {
    lines.send(R"({"jsonrpc":"2.0","id":1,"method":"cellblock/approvals"})");
    return !is_refused(lines.read_json());
  };
  EXPECT_TRUE(is_answered(removed) && is_answered(kept) && is_answered(root));
  Config next = config_;
  next.admins = {8};
  reconfigure(next);
  EXPECT_TRUE(removed.at_end());
  EXPECT_TRUE(is_answered(kept) && is_answered(root));
}

TEST_F(GatewayReconfigure, EndsWhenTheSupervisorSendsNoConfiguration) {
  start();
  Lines host = connect();
  const FakeCell cell = attach_host(host);
  const Fd sealed = make_sealed("config", {}).value();
  const wire::SessionGrant grant{.kind = wire::SupervisorSends::config, .uid = user};
  const int fd = sealed.get();
  ASSERT_TRUE(send_record(supervisor_.get(), grant, std::span(&fd, 1)));
  wait_for_gateway();
}

}  // namespace
}  // namespace cellblock::gateway::testing
