#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "policy/base/server_set.h"
#include "policy/reload/merge.h"
#include "tests/unit/aggregate_rig.h"

// A session of all servers that is open while the configuration changes.

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Names = std::vector<std::string>;

TestJson tool(const std::string& name) {
  return {{"name", name}, {"inputSchema", {{"type", "object"}}}};
}

class AggregateReconfigure : public ::testing::Test {
 protected:
  AggregateReconfigure() { rig_.config.servers.reserve(max_servers); }

  template <class Change>
  void reload(Change change) {
    Config declared = rig_.config;
    std::erase_if(declared.servers, [](const Server& server) { return server.removed; });
    change(declared);
    take_over(rig_.config, merged(rig_.config, std::move(declared)));
    rig_.access->narrow(rig_.config, subject_of({}, {rig_user, rig_user, {}}));
    ServerSet all;
    for (std::size_t i = 0; i < rig_.config.servers.size(); ++i) all.add(i);
    rig_.wanted.clear();
    rig_.aggregate->reconfigure(all, rig_.now);
  }
  Names listed() {
    rig_.host(request(1, "tools/list"));
    const TestJson answer = rig_.said();
    return answer.is_null() ? Names{"(waits)"} : each(answer["result"]["tools"], "name");
  }
  void both_are_ready() {
    rig_.ready(0, catalogue_of(items(tool("read"), tool("write"))));
    rig_.ready(1, catalogue_of(items(tool("open"))));
  }

  AggregateRig rig_{{server_named("files"), server_named("shop")}};
};

TEST_F(AggregateReconfigure, ListsByTheNewRules) {
  both_are_ready();
  EXPECT_EQ(listed(), (Names{"files__read", "files__write", "shop__open"}));
  reload([](Config& config) { config.servers[0].rules[0].tools = {{"read", false}}; });
  EXPECT_THAT(rig_.wanted, ElementsAre(0, 1));
  both_are_ready();
  EXPECT_EQ(listed(), (Names{"files__read", "shop__open"}));
}

TEST_F(AggregateReconfigure, KnowsNothingOfAServerThatIsRemoved) {
  both_are_ready();
  reload([](Config& config) { config.servers.erase(config.servers.begin()); });
  EXPECT_THAT(rig_.wanted, ElementsAre(1));
  rig_.ready(1, catalogue_of(items(tool("open"))));
  EXPECT_EQ(listed(), Names{"shop__open"});
  rig_.host(request(2, "tools/call", {{"name", "files__read"}}));
  EXPECT_FALSE(rig_.said().is_null());
  EXPECT_TRUE(rig_.route_lines.empty());
}

TEST_F(AggregateReconfigure, AsksWhatAServerOffersThatIsNew) {
  both_are_ready();
  reload([](Config& config) { config.servers.push_back(server_named("alpha")); });
  EXPECT_THAT(rig_.wanted, Contains(2));
  both_are_ready();
  rig_.ready(2, catalogue_of(items(tool("new"))));
  EXPECT_THAT(listed(), Contains("alpha__new"));
}

TEST_F(AggregateReconfigure, AsksAgainForAServerThatFailedUnderTheOldConfiguration) {
  rig_.ready(1, catalogue_of(items(tool("open"))));
  EXPECT_EQ(listed(), Names{"(waits)"});
  rig_.broken(0, "no such program");
  rig_.ring();
  rig_.broken(0, "no such program");
  rig_.all_said();
  reload([](Config& config) { config.servers[0].command = {"/usr/bin/mended"}; });
  EXPECT_THAT(rig_.wanted, Contains(0));
}

TEST_F(AggregateReconfigure, AsksAgainForAServerThatWasAskedUnderTheOldConfiguration) {
  EXPECT_EQ(listed(), Names{"(waits)"});
  reload([](Config& config) { config.servers[0].command = {"/usr/bin/other"}; });
  EXPECT_THAT(rig_.wanted, ElementsAre(0, 1));
  both_are_ready();
  EXPECT_EQ(each(rig_.said()["result"]["tools"], "name"),
            (Names{"files__read", "files__write", "shop__open"}));
}

TEST_F(AggregateReconfigure, WaitsNoLongerForAServerThatIsSwitchedOff) {
  rig_.ready(1, catalogue_of(items(tool("open"))));
  EXPECT_EQ(listed(), Names{"(waits)"});
  reload([](Config& config) { config.servers[0].enabled = false; });
  EXPECT_THAT(rig_.wanted, ElementsAre(1));
  rig_.ready(1, catalogue_of(items(tool("open"))));
  EXPECT_EQ(each(rig_.said()["result"]["tools"], "name"), Names{"shop__open"});
}

TEST_F(AggregateReconfigure, ShowsNothingOfWhatComesLateFromAServerThatIsSwitchedOff) {
  rig_.ready(1, catalogue_of(items(tool("open"))));
  EXPECT_EQ(listed(), Names{"(waits)"});
  reload([](Config& config) { config.servers[0].enabled = false; });
  both_are_ready();
  rig_.all_said();
  EXPECT_EQ(listed(), Names{"shop__open"});
  rig_.host(request(2, "tools/call", {{"name", "files__read"}}));
  EXPECT_TRUE(rig_.route_lines.empty());
}

TEST_F(AggregateReconfigure, TellsAStreamThatListsHaveChanged) {
  both_are_ready();
  rig_.host(request(5, "subscriptions/listen", {{"notifications", {{"toolsListChanged", true}}}}));
  rig_.all_said();
  listed();
  reload([](Config& config) { config.servers.erase(config.servers.begin()); });
  rig_.ready(1, catalogue_of(items(tool("open"))));
  rig_.ring();
  const auto said = rig_.all_said();
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said.back().dump(), HasSubstr("notifications/tools/list_changed"));
}

}  // namespace
}  // namespace cellblock::gateway::testing
