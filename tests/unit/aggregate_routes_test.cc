#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/gateway/aggregate/resource_routes.h"
#include "supervisor/gateway/aggregate/response_rewrite.h"

namespace cellblock::gateway {
namespace {

TEST(UriTemplates, StandForTheseUris) {
  struct Row {
    const char* uri_template;
    const char* uri;
    bool matches;
  };
  const std::vector<Row> rows = {
      {"test://a/{id}/data", "test://a/1/data", true},
      {"test://a/{id}/data", "test://a/1/2/data", false},
      {"test://a/{id}/data", "test://a//data", false},
      {"test://a/{id}", "test://a/1?x=2", false},
      {"test://a/{id}{?x}", "test://a/1?x=2", true},
      {"test://a/{id}{?x,y*}", "test://a/1", true},
      {"file:///{+path}", "file:///a/b/c", true},
      {"file:///{path}", "file:///a/b", false},
      {"a:{x}-{y}", "a:1-2-3", true},
      {"a:{x}-{y}", "a:12", false},
      {"a:b{.ext}", "a:b.txt", true},
      {"a:b{.ext}", "a:b", true},
      {"a:b{/seg}", "a:b/c", true},
      {"a:b{/seg}", "a:b/c/d", false},
      {"a:b{/seg*}", "a:b/c/d", true},
      {"a:b{#part}", "a:b#c/d", true},
      {"a:b", "a:b", true},
      {"a:b", "a:bc", false},
      {"a:b{", "a:b{", true},
      {"{+all}", "anything", true},
      {"{a}{b}{c}{d}{e}{f}{g}{h}{i}", "aaaaaaaaaaaaaaaa", false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(template_matches(row.uri_template, row.uri), row.matches)
        << row.uri_template << " " << row.uri;
  }
}

TEST(UriTemplates, TooLongToBeHeldAgainstEachOtherMatchNothing) {
  EXPECT_FALSE(template_matches("{+x}", std::string(max_matched_uri + 1, 'a')));
  EXPECT_TRUE(template_matches("{+x}", std::string(max_matched_uri, 'a')));
}

class Routes : public ::testing::Test {
 protected:
  Routes() {
    for (const char* name : {"apps", "docs", "files"}) {
      Server& server = config_.servers.emplace_back();
      server.name = name;
      server.rules = {short_form({user}, {}, {})};
    }
  }
  using Route = ResourceRoutes::Route;
  using Certainty = ResourceRoutes::Certainty;

  static constexpr std::uint32_t user = 1000;
  SessionAccess access() const { return SessionAccess(config_, subject_of({}, {user, user, {}})); }

  Config config_;
};

TEST_F(Routes, LeadToNoServerThatIsSwitchedOff) {
  config_.servers[1].enabled = false;
  const SessionAccess all = access();
  const Members members(config_, all);
  EXPECT_TRUE(members.find("apps"));
  EXPECT_FALSE(members.find("docs"));
  EXPECT_TRUE(members.find("files"));
}

TEST_F(Routes, LeadEveryUriThatIsShownBackToItsServer) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  routes.list_resource(0, "file:///a");
  routes.list_template(1, "file:///{+path}");
  routes.list_resource(2, "file:///a");
  routes.list_resource(2, "memo:1");
  routes.list_resource(2, "cellblock://docs/x");
  routes.list_reference(0, "ui://app");
  routes.list_reference(1, "ui://app");

  struct Row {
    std::uint32_t server;
    const char* uri;
    const char* shown;
  };
  const std::vector<Row> rows = {
      {0, "file:///a", "file:///a"},
      {2, "file:///a", "cellblock://files/file:///a"},
      {1, "file:///b", "file:///b"},
      {2, "file:///b", "cellblock://files/file:///b"},
      {1, "file:///a", "cellblock://docs/file:///a"},
      {2, "memo:1", "memo:1"},
      {1, "memo:1", "cellblock://docs/memo:1"},
      {2, "cellblock://docs/x", "cellblock://files/cellblock://docs/x"},
      {0, "ui://app", "ui://app"},
      {1, "ui://app", "ui://cellblock/docs/app"},
      {1, "ui://cellblock/apps/app", "ui://cellblock/docs/cellblock/apps/app"},
      {0, "new:1?x#../y", "cellblock://apps/new:1?x#../y"},
  };
  for (const Row& row : rows) {
    const std::string shown = routes.shown(row.server, row.uri);
    EXPECT_EQ(shown, row.shown);
    EXPECT_EQ(routes.find(shown, Certainty::certain), (Route{row.server, row.uri})) << shown;
  }
}

TEST_F(Routes, OfUnlistedUrisGoToTheOnlyServerOfTheirScheme) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  routes.list_resource(0, "memo:1");
  routes.list_resource(1, "file:///a");
  routes.list_template(2, "file:///tmp/{x}");
  EXPECT_EQ(routes.find("memo:9", Certainty::guess), (Route{0, "memo:9"}));
  EXPECT_FALSE(routes.find("memo:9", Certainty::certain));
  EXPECT_FALSE(routes.find("file:///zzz", Certainty::guess));
  EXPECT_FALSE(routes.find("other:1", Certainty::guess));
}

TEST_F(Routes, RememberWhatAResultMentionedUntilSomebodyListsIt) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  EXPECT_EQ(routes.mention(1, "made:up"), "made:up");
  EXPECT_EQ(routes.mention(2, "made:up"), "cellblock://files/made:up");
  EXPECT_EQ(routes.find("made:up", Certainty::certain), (Route{1, "made:up"}));
  routes.list_resource(2, "made:up");
  EXPECT_EQ(routes.find("made:up", Certainty::certain), (Route{2, "made:up"}));
  EXPECT_EQ(routes.mention(1, "made:up"), "cellblock://docs/made:up");
}

TEST_F(Routes, AreThereForMoreMentionedUrisThanAreRemembered) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  for (std::size_t i = 0; i <= ResourceRoutes::max_mentioned; ++i) {
    routes.mention(0, "a:" + std::to_string(i));
  }
  const std::string shown = routes.mention(0, "a:last");
  EXPECT_EQ(shown, "cellblock://apps/a:last");
  EXPECT_EQ(routes.find(shown, Certainty::certain), (Route{0, "a:last"}));
}

TEST_F(Routes, ShowTemplatesThatMightMeanAnothersResourceInTheirQualifiedForm) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  routes.list_template(0, "file:///{path}");
  routes.list_template(1, "file:///docs/{+path}");
  routes.list_template(2, "memo:{id}");
  EXPECT_EQ(routes.shown_template(0, "file:///{path}"), "cellblock://apps/file:///{path}");
  EXPECT_EQ(routes.shown_template(1, "file:///docs/{+path}"), "file:///docs/{+path}");
  EXPECT_EQ(routes.shown_template(2, "file:///docs/{+path}"),
            "cellblock://files/file:///docs/{+path}");
  EXPECT_EQ(routes.shown_template(2, "memo:{id}"), "memo:{id}");
  EXPECT_EQ(routes.find("cellblock://docs/file:///docs/a/b%2Fc", Certainty::certain),
            (Route{1, "file:///docs/a/b%2Fc"}));
}

TEST_F(Routes, LeadNowhereWhereAServerIsNotPermitted) {
  config_.servers[1].rules.clear();
  config_.servers[2].rules.clear();
  const SessionAccess only_apps = access();
  const Members members(config_, only_apps);
  const ResourceRoutes routes(members);
  for (const char* uri : {"cellblock://files/a:b", "cellblock://none/a:b", "cellblock://files",
                          "ui://cellblock/docs/x", "cellblock:///a:b", "", "cellblock://apps/"}) {
    EXPECT_FALSE(routes.find(uri, Certainty::guess)) << uri;
  }
}

std::vector<std::string> uris_in(const std::string& result) {
  std::vector<std::string> found;
  const std::string head = R"({"id":1,"result":)";
  const std::string line = head + result + "}";
  const Span whole{static_cast<std::uint32_t>(head.size()),
                   static_cast<std::uint32_t>(line.size() - 1)};
  for (const Span span : result_uris(line, whole)) {
    found.emplace_back(span.in(line));
  }
  return found;
}

TEST(ResultUris, AreFoundWhereResultsMentionResourcesAndNowhereElse) {
  using All = std::vector<std::string>;
  EXPECT_EQ(uris_in(R"({"contents":[{"uri":"a:1","text":"x"},{ "uri" : "a:2" }]})"),
            (All{R"("a:1")", R"("a:2")"}));
  EXPECT_EQ(uris_in(R"({"content":[{"type":"resource_link","uri":"a:1"},
                       {"type":"resource","resource":{"text":"\"uri\"","uri":"a:2"}}]})"),
            (All{R"("a:1")", R"("a:2")"}));
  EXPECT_EQ(uris_in(R"({"messages":[{"content":{"resource":{"uri":"a:\"1"}}},
                                    {"content":[{"uri":"a:2"}]}]})"),
            (All{R"("a:\"1")", R"("a:2")"}));
  EXPECT_EQ(uris_in(R"({"structuredContent":{"uri":"a:1","content":[{"uri":"a:2"}]},
                        "_meta":{"uri":"a:3"},"uri":"a:4","content":[{"_meta":{"uri":"a:5"}}]})"),
            All{});
  EXPECT_EQ(uris_in(R"({"content":[1,"uri",null,[],{},{"uri":7}],"contents":{},"messages":[[]]})"),
            All{});
  EXPECT_EQ(uris_in(R"([{"uri":"a:1"}])"), All{});
}

// Hosts read the key as it is meant.
TEST(ResultUris, AreFoundUnderEscapedKeys) {
  EXPECT_EQ(uris_in(R"({"conten\u0074":[{"ur\u0069":"a:1"},{"\u0075ri":"a:2"}]})"),
            (std::vector<std::string>{R"("a:1")", R"("a:2")"}));
}

TEST(ResultUris, AreFoundHoweverManyThereAre) {
  std::string items;
  for (std::size_t i = 0; i < 5'000; ++i) items += R"({"uri":"a:1"},)";
  EXPECT_EQ(uris_in(R"({"content":[)" + items + "{}]}").size(), 5'000U);
}

TEST_F(Routes, FollowTheTemplateWithTheLongestBeginning) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  routes.list_template(0, "file:///{+path}");
  routes.list_template(2, "file:///docs/{+path}");
  routes.list_template(1, "file:///docs/{+path}");
  EXPECT_EQ(routes.find("file:///docs/a/b", Certainty::certain), (Route{1, "file:///docs/a/b"}));
  EXPECT_EQ(routes.find("file:///a/b", Certainty::certain), (Route{0, "file:///a/b"}));
  EXPECT_EQ(routes.shown(0, "file:///docs/a"), "cellblock://apps/file:///docs/a");
}

TEST_F(Routes, AreNotCapturedByATemplateOfEverything) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  routes.list_template(0, "{+uri}");
  routes.list_template(0, "{scheme}:{+rest}");
  routes.list_template(1, "memo:{id}");
  EXPECT_EQ(routes.find("memo:1", Certainty::certain), (Route{1, "memo:1"}));
  EXPECT_FALSE(routes.find("other:1", Certainty::guess));
  EXPECT_EQ(routes.shown_template(0, "{+uri}"), "cellblock://apps/{+uri}");
  EXPECT_EQ(routes.find("cellblock://apps/memo:1", Certainty::certain), (Route{0, "memo:1"}));
}

std::string expensive_template(std::size_t number) {
  return "x:{+x}" + std::string(1'500, 'a') + std::to_string(number) + "b";
}

// A server chooses both sides of the comparison.
TEST_F(Routes, ShowWhatWouldTakeTooLongToFindInItsQualifiedForm) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  for (std::size_t i = 0; i < ResourceRoutes::max_templates; ++i) {
    routes.list_template(0, expensive_template(i));
  }
  routes.list_resource(1, "x:listed");
  ResourceRoutes::Effort effort;
  for (int i = 0; i < 1'000; ++i)
    routes.mention(1, "x:" + std::string(2'000, 'a') + std::to_string(i), effort);
  EXPECT_EQ(effort.spent.at(0), ResourceRoutes::max_effort);
  EXPECT_EQ(routes.mention(1, "x:new", effort), "cellblock://docs/x:new");
  EXPECT_EQ(routes.mention(1, "x:listed", effort), "x:listed");
  EXPECT_EQ(routes.mention(1, "y:new", effort), "y:new");
  EXPECT_EQ(routes.find("cellblock://docs/x:new", Certainty::certain), (Route{1, "x:new"}));
  EXPECT_EQ(routes.mention(1, "x:new"), "x:new");
}

TEST_F(Routes, AreFoundWithTheTemplatesOfOneServerHoweverLongThoseOfAnotherTake) {
  const SessionAccess all = access();
  const Members members(config_, all);
  ResourceRoutes routes(members);
  for (std::size_t i = 0; i < ResourceRoutes::max_templates; ++i) {
    routes.list_template(0, expensive_template(i));
  }
  routes.list_template(1, "x:{id}");
  const std::string uri = "x:" + std::string(2'000, 'a');
  EXPECT_EQ(routes.find(uri, Certainty::certain), (Route{1, uri}));
  // And the answer may not say so of what is nobody's to tell.
  EXPECT_EQ(routes.shown(1, uri), "cellblock://docs/" + uri);
}

}  // namespace
}  // namespace cellblock::gateway
