#include <gmock/gmock.h>

#include <chrono>

#include "supervisor/gateway/aggregate/list_refresh.h"
#include "tests/unit/aggregate_rig.h"

namespace cellblock::gateway::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr const char* subscription = "io.modelcontextprotocol/subscriptionId";

TestJson tool(const std::string& name) { return {{"name", name}}; }

class AggregateStreams : public ::testing::Test {
 protected:
  AggregateStreams() {
    rig_.ready(apps, catalogue_of(items(tool("open")), items(TestJson{{"uri", "a:1"}})));
    rig_.ready(files, catalogue_of(items(tool("read_x"), tool("hidden")),
                                   items(TestJson{{"uri", "a:1"}})));
  }

  static TestJson listen(const TestJson& id, const TestJson& wanted) {
    return request(id, "subscriptions/listen", {{"notifications", wanted}});
  }
  static TestJson on_stream(const TestJson& id, const std::string& method,
                            TestJson params = TestJson::object()) {
    params["_meta"] = {{subscription, id}};
    return notification(method, std::move(params));
  }
  void start(std::uint32_t server) { rig_.aggregate->route_started(server, rig_.now); }
  void lose(std::uint32_t server) {
    rig_.aggregate->route_failed(server, AggregateRig::failure("crash"), rig_.now);
  }
  /// The server's tools are these now.
  void change_tools(std::uint32_t server, const TestJson& stream, const TestJson& tools) {
    for (int i = 0; i < 3; ++i) {
      rig_.server_route(server, on_stream(stream["id"], "notifications/tools/list_changed"));
    }
    rig_.ring();
    const TestJson asked = rig_.asked(server);
    EXPECT_EQ(asked["method"], "tools/list");
    rig_.server_route(server, result(asked["id"], {{"tools", tools}}));
    rig_.ring();
  }

  static constexpr std::uint32_t apps = 0;
  static constexpr std::uint32_t files = 1;
  AggregateRig rig_{{server_named("apps"), server_named("files", {"read_*"})}};
};

TEST_F(AggregateStreams, AreAcknowledgedFirstAndStartNoServerOnlyToListen) {
  start(files);
  rig_.host(listen("s", {{"toolsListChanged", true}, {"promptsListChanged", false}}));
  const TestJson said = rig_.said();
  EXPECT_EQ(said, on_stream("s", "notifications/subscriptions/acknowledged",
                            {{"notifications", {{"toolsListChanged", true}}}}));
  const TestJson asked = rig_.asked(files);
  EXPECT_EQ(asked["method"], "subscriptions/listen");
  EXPECT_EQ(asked["params"]["notifications"], (TestJson{{"toolsListChanged", true}}));
  EXPECT_TRUE(asked["params"]["_meta"].contains("io.modelcontextprotocol/protocolVersion"));
  EXPECT_TRUE(rig_.asked(apps).is_null());
  start(apps);
  EXPECT_EQ(rig_.asked(apps)["method"], "subscriptions/listen") << "now that it runs anyway";
}

TEST_F(AggregateStreams, StartTheServersWhoseResourcesAreSubscribedTo) {
  rig_.host(listen(1, {{"resourceSubscriptions", {"cellblock://files/a:1", "none:1"}}}));
  EXPECT_EQ(rig_.said()["params"]["notifications"],
            (TestJson{{"resourceSubscriptions", {"cellblock://files/a:1"}}}));
  const TestJson asked = rig_.asked(files);
  EXPECT_EQ(asked["params"]["notifications"], (TestJson{{"resourceSubscriptions", {"a:1"}}}));
  start(files);
  EXPECT_TRUE(rig_.asked(files).is_null()) << "it listens already";

  rig_.server_route(files,
                    on_stream(asked["id"], "notifications/resources/updated", {{"uri", "a:1"}}));
  EXPECT_EQ(rig_.said(),
            on_stream(1, "notifications/resources/updated", {{"uri", "cellblock://files/a:1"}}));
  rig_.server_route(files,
                    on_stream(asked["id"], "notifications/resources/updated", {{"uri", "a:1/b"}}));
  EXPECT_EQ(rig_.said()["params"]["uri"], "a:1/b") << "a part of it, which nobody else has";
  rig_.server_route(apps,
                    on_stream(asked["id"], "notifications/resources/updated", {{"uri", "a:1"}}));
  rig_.server_route(files, on_stream(asked["id"], "notifications/resources/updated"));
  EXPECT_TRUE(rig_.said().is_null());
}

TEST_F(AggregateStreams, TellOnceThatAListChangedAndOnlyIfTheHostSeesIt) {
  start(files);
  rig_.host(request(1, "tools/list"));
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.host(listen("quiet", {{"resourcesListChanged", true}}));
  rig_.all_said();
  const auto streams = rig_.all_asked(files);
  ASSERT_EQ(streams.size(), 2U);

  change_tools(files, streams[0], {tool("read_x"), tool("hidden"), tool("hidden_too")});
  EXPECT_TRUE(rig_.said().is_null());
  change_tools(files, streams[0], {tool("read_x"), tool("read_y")});
  EXPECT_EQ(rig_.said(), on_stream("s", "notifications/tools/list_changed"));
  rig_.host(request(1, "tools/list"));
  EXPECT_EQ(each(rig_.said()["result"]["tools"], "name"),
            (std::vector<std::string>{"apps__open", "files__read_x", "files__read_y"}));
}

TEST_F(AggregateStreams, AskForAllPagesOfAListThatChanged) {
  start(files);
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  const TestJson stream = rig_.asked(files);
  rig_.server_route(files, on_stream(stream["id"], "notifications/tools/list_changed"));
  rig_.ring();
  TestJson asked = rig_.asked(files);
  rig_.server_route(
      files, result(asked["id"], {{"tools", items(tool("read_1"))}, {"nextCursor", "more"}}));
  asked = rig_.asked(files);
  EXPECT_EQ(asked["params"]["cursor"], "more");
  rig_.server_route(files, result(asked["id"], {{"tools", items(tool("read_2"))}}));
  rig_.ring();
  EXPECT_EQ(rig_.said()["method"], "notifications/tools/list_changed");
  rig_.host(request(1, "tools/list"));
  EXPECT_EQ(rig_.said()["result"]["tools"].size(), 3U);
}

TEST_F(AggregateStreams, AskAServerThatAnnouncesWithoutEndEverMoreSeldom) {
  start(files);
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  const TestJson change = on_stream(rig_.asked(files)["id"], "notifications/tools/list_changed");
  std::vector<Milliseconds> gaps;
  Time last = rig_.now;
  for (int i = 0; i < 9; ++i) {
    rig_.server_route(files, change);
    TestJson asked;
    while (asked.is_null() && rig_.due) {
      rig_.ring();
      asked = rig_.asked(files);
    }
    rig_.server_route(files, result(asked["id"], {{"tools", items()}}));
    gaps.push_back(std::chrono::duration_cast<Milliseconds>(rig_.now - last));
    last = rig_.now;
  }
  while (rig_.due) rig_.ring();
  using namespace std::chrono_literals;
  EXPECT_THAT(gaps, ElementsAre(50ms, 1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s));
  rig_.now += 2 * ListRefresh::longest_gap;
  rig_.server_route(files, change);
  ASSERT_TRUE(rig_.due);
  EXPECT_EQ(*rig_.due, rig_.now + ListRefresh::coalesce);
}

TEST_F(AggregateStreams, DoNotMakeOneServerWaitBecauseAnotherAnnouncesWithoutEnd) {
  start(files);
  start(apps);
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  const auto change = [](const TestJson& stream) {
    return on_stream(stream["id"], "notifications/tools/list_changed");
  };
  const TestJson busy = change(rig_.asked(files));
  const TestJson quiet = change(rig_.asked(apps));
  rig_.server_route(files, busy);
  rig_.ring();
  rig_.server_route(files, busy);
  rig_.server_route(apps, quiet);
  ASSERT_TRUE(rig_.due);
  EXPECT_EQ(*rig_.due, rig_.now + ListRefresh::coalesce);
}

TEST_F(AggregateStreams, CancelAtItsServerWhatTheyAskedForAndNoLongerWaitFor) {
  start(files);
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  const TestJson change = on_stream(rig_.asked(files)["id"], "notifications/tools/list_changed");
  rig_.server_route(files, change);
  rig_.ring();
  const TestJson first = rig_.asked(files);
  rig_.server_route(files, change);
  rig_.ring();
  const auto again = rig_.all_asked(files);
  ASSERT_THAT(again, SizeIs(2));
  EXPECT_EQ(again[0]["method"], "notifications/cancelled");
  EXPECT_EQ(again[0]["params"]["requestId"], first["id"]);
  EXPECT_EQ(again[1]["method"], "tools/list");
  rig_.ring();
  EXPECT_EQ(rig_.asked(files)["params"]["requestId"], again[1]["id"]);
  EXPECT_FALSE(rig_.due);
}

TEST_F(AggregateStreams, KeepAListWhenAllOfItsServerWouldBeTooMuch) {
  rig_.config.catalogue.max_bytes = 1000;
  rig_.make();
  start(files);
  rig_.ready(files, catalogue_of(items(tool("read_x")), TestJson::array(), TestJson::array(),
                                 items(TestJson{{"name", std::string(600, 'p')}})));
  rig_.ready(apps, catalogue_of(items(tool("open"))));
  rig_.all_said();
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  rig_.server_route(
      files, on_stream(rig_.all_asked(files).back()["id"], "notifications/tools/list_changed"));
  rig_.ring();
  rig_.server_route(
      files,
      result(rig_.asked(files)["id"],
             {{"tools", items(TestJson{{"name", "t"}, {"description", std::string(500, 'x')}})}}));
  rig_.host(request(2, "tools/list"));
  EXPECT_THAT(each(rig_.said()["result"]["tools"], "name"), Contains("files__read_x"));
}

TEST_F(AggregateStreams, KeepAListThatCannotBeAskedForAgain) {
  start(files);
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  const TestJson stream = rig_.asked(files);
  rig_.server_route(files, on_stream(stream["id"], "notifications/tools/list_changed"));
  rig_.ring();
  const TestJson asked = rig_.asked(files);
  rig_.server_route(
      files, {{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"error", {{"code", -1}, {"message", ""}}}});
  rig_.host(request(1, "tools/list"));
  EXPECT_EQ(rig_.said()["result"]["tools"].size(), 2U);
}

TEST_F(AggregateStreams, TellWhatACatalogueThatComesLaterAdds) {
  rig_.host(request(1, "tools/list"));
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.all_said();
  rig_.ready(apps, catalogue_of(items(tool("open"), tool("close"))));
  rig_.ring();
  EXPECT_EQ(rig_.said()["method"], "notifications/tools/list_changed");
  rig_.ready(apps, catalogue_of(items(tool("open"), tool("close"))));
  rig_.ring();
  EXPECT_TRUE(rig_.said().is_null());
}

TEST_F(AggregateStreams, AreOpenedAgainInTheNextCellAndSayWhatMayHaveChangedMeanwhile) {
  rig_.host(listen("s", {{"resourceSubscriptions", {"a:1"}}}));
  rig_.said();
  const TestJson before = rig_.asked(apps);
  start(apps);
  lose(apps);
  start(apps);
  const TestJson after = rig_.asked(apps);
  EXPECT_EQ(after["params"]["notifications"], before["params"]["notifications"]);
  EXPECT_NE(after["id"], before["id"]);
  EXPECT_TRUE(rig_.said().is_null());
  const TestJson acknowledged = on_stream(after["id"], "notifications/subscriptions/acknowledged");
  rig_.server_route(apps, acknowledged);
  EXPECT_EQ(rig_.said(), on_stream("s", "notifications/resources/updated", {{"uri", "a:1"}}));
  rig_.server_route(apps, acknowledged);
  EXPECT_TRUE(rig_.said().is_null());
  rig_.ring();
  EXPECT_EQ(rig_.all_asked(apps).size(), 4U) << "its lists are asked for again";
}

TEST_F(AggregateStreams, ThatAServerEndsStayOpenForTheHost) {
  start(files);
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  TestJson asked = rig_.asked(files);
  rig_.server_route(files, result(asked["id"], TestJson::object()));
  rig_.server_route(files, on_stream(asked["id"], "notifications/tools/list_changed"));
  EXPECT_FALSE(rig_.due);
  EXPECT_TRUE(rig_.said().is_null());
  lose(files);
  start(files);
  asked = rig_.asked(files);
  EXPECT_EQ(asked["method"], "subscriptions/listen");
  rig_.server_route(files, notification("notifications/cancelled", {{"requestId", asked["id"]}}));
  EXPECT_TRUE(rig_.said().is_null());
}

TEST_F(AggregateStreams, ThatTheHostEndsAreEndedAtTheServersWithoutAnAnswer) {
  start(files);
  start(apps);
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  rig_.asked(apps);
  const TestJson asked = rig_.asked(files);
  rig_.host(notification("notifications/cancelled", {{"requestId", "s"}}));
  EXPECT_EQ(rig_.asked(files)["params"]["requestId"], asked["id"]);
  EXPECT_EQ(rig_.asked(apps)["method"], "notifications/cancelled");
  rig_.server_route(files,
                    on_stream(asked["id"], "notifications/resources/updated", {{"uri", "a:1"}}));
  EXPECT_TRUE(rig_.said().is_null());
}

TEST_F(AggregateStreams, AreBoundedInNumber) {
  for (std::size_t i = 0; i < Aggregate::max_streams; ++i) rig_.host(listen(i, TestJson::object()));
  rig_.all_said();
  rig_.host(listen("more", TestJson::object()));
  EXPECT_EQ(rig_.said()["error"]["data"]["code"], "too_many");
  rig_.host(listen(0, TestJson::object()));
  EXPECT_EQ(rig_.said()["error"]["code"], -32600);
}

TEST_F(AggregateStreams, EndWithTheSession) {
  rig_.host(listen("s", {{"toolsListChanged", true}}));
  rig_.said();
  rig_.aggregate->fail_all(AggregateRig::failure("over"), rig_.now);
  const TestJson said = rig_.said();
  EXPECT_EQ(said["id"], "s");
  EXPECT_TRUE(said.contains("error"));
}

TEST_F(AggregateStreams, HearOfTheirTasks) {
  rig_.host(listen("s", {{"taskIds", {"files.t1", "none.t2"}}}));
  EXPECT_EQ(rig_.said()["params"]["notifications"], (TestJson{{"taskIds", {"files.t1"}}}));
  const TestJson asked = rig_.asked(files);
  EXPECT_EQ(asked["params"]["notifications"], (TestJson{{"taskIds", {"t1"}}}));
  rig_.server_route(files, on_stream(asked["id"], "notifications/tasks", {{"taskId", "t1"}}));
  const TestJson said = rig_.said();
  EXPECT_EQ(said["params"]["taskId"], "files.t1");
  EXPECT_EQ(said["params"]["_meta"][subscription], "s");
}

}  // namespace
}  // namespace cellblock::gateway::testing
