#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/gateway/catalogue/catalogue_cache.h"
#include "supervisor/gateway/catalogue/catalogue_report.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Recorder final : CacheEffects {
  void start_survey(std::uint32_t server, const SurveyStart& start) override {
    surveys.push_back(server);
    last_start = start;
  }
  void save(std::uint32_t server, const KeptCatalogue& kept) override {
    saved.emplace_back(server, kept);
  }
  void remove(std::uint32_t server) override { removed.push_back(server); }

  std::vector<std::uint32_t> surveys;
  SurveyStart last_start;
  std::vector<std::pair<std::uint32_t, KeptCatalogue>> saved;
  std::vector<std::uint32_t> removed;
};

Catalogue with_tool(const std::string& name, Era era = Era::legacy) {
  Catalogue catalogue;
  catalogue.era = era;
  catalogue.protocol_version = era == Era::legacy ? "2025-11-25" : "2026-07-28";
  catalogue.server_info = "{}";
  catalogue.capabilities = "{}";
  catalogue.lists.at(0) = R"([{"name":")" + name + R"("}])";
  return catalogue;
}

class CatalogueCacheTest : public ::testing::Test {
 protected:
  CatalogueCacheTest() {
    config.servers.resize(2);
    config.servers[0].name = "a";
    config.servers[1].name = "b";
    cache.emplace(config, effects);
  }

  bool want(std::uint32_t server, Catalogues::Waiter waiter) {
    return cache->want(
        server, waiter, [this, waiter](const Catalogue*, const Failure&) { told.insert(waiter); },
        now);
  }
  void pass(Milliseconds time) {
    now.time += time;
    now.unix_ms += time.count();
  }
  void end_survey(std::uint32_t server, const Failure* failure = nullptr) {
    for (const auto& [waiter, callback] : cache->survey_ended(server, failure, now)) {
      const auto answer = cache->answer(server);
      callback(answer.catalogue, answer.failure);
    }
  }
  void find(std::uint32_t server, Catalogue catalogue) {
    const Eras eras = catalogue.era == Era::modern
                          ? Eras{.modern = Speaks::yes}
                          : Eras{.legacy = Speaks::yes, .modern = Speaks::no};
    cache->found(server, {std::move(catalogue), eras, {}}, now);
    end_survey(server);
  }

  Config config;
  Recorder effects;
  std::optional<CatalogueCache> cache;
  CatalogueCache::Now now{Time{Milliseconds{5'000'000}}, 1'700'000'000'000};
  std::set<Catalogues::Waiter> told;
  const Failure broken = plain_failure(FailureCode::server_failed, "broken");
};

TEST_F(CatalogueCacheTest, StartsOneSurveyForAllWhoWait) {
  EXPECT_EQ(cache->find(0, now), nullptr);
  EXPECT_FALSE(want(0, 1));
  EXPECT_FALSE(want(0, 2));
  EXPECT_FALSE(want(1, 3));
  EXPECT_THAT(effects.surveys, ElementsAre(0, 1));
  find(0, with_tool("x"));
  EXPECT_THAT(told, ElementsAre(1, 2));
  ASSERT_NE(cache->find(0, now), nullptr);
  EXPECT_EQ(cache->find(0, now)->found_at_ms, now.unix_ms);
  ASSERT_EQ(effects.saved.size(), 1U);
  EXPECT_TRUE(want(0, 4));
  EXPECT_THAT(effects.surveys, ElementsAre(0, 1));
}

TEST_F(CatalogueCacheTest, DoesNotCallWhoHasGone) {
  want(0, 1);
  want(0, 2);
  cache->forget(1);
  cache->forget(77);
  find(0, with_tool("x"));
  EXPECT_THAT(told, ElementsAre(2));
}

TEST_F(CatalogueCacheTest, StartsNothingForAWhileAfterAFailure) {
  want(0, 1);
  end_survey(0, &broken);
  EXPECT_THAT(told, ElementsAre(1));
  EXPECT_TRUE(want(0, 2));
  EXPECT_EQ(cache->answer(0).catalogue, nullptr);
  EXPECT_EQ(cache->answer(0).failure.message, "broken");
  EXPECT_THAT(effects.surveys, ElementsAre(0));
  pass(Milliseconds{30'000});
  EXPECT_FALSE(want(0, 3));
  EXPECT_THAT(effects.surveys, ElementsAre(0, 0));
}

TEST_F(CatalogueCacheTest, LetsABrokenServerRestLongerEachTimeForWhoeverWantsAll) {
  using Rest = Broken::Rest;
  EXPECT_FALSE(cache->broken(0, now));
  for (const int seconds : {30, 120, 600, 600}) {
    want(0, 1);
    end_survey(0, &broken);
    ASSERT_TRUE(cache->broken(0, now));
    EXPECT_EQ(cache->broken(0, now)->failure.message, "broken");
    pass(std::chrono::seconds(seconds) - Milliseconds{1});
    EXPECT_EQ(cache->broken(0, now)->rest, Rest::not_over) << seconds;
    pass(Milliseconds{1});
    EXPECT_EQ(cache->broken(0, now)->rest, Rest::over) << seconds;
  }
  want(0, 2);
  end_survey(0, &broken);
  cache->forget_server(0);
  EXPECT_FALSE(cache->broken(0, now)) << "cellblock restart";
  want(0, 3);
  end_survey(0, &broken);
  pass(Milliseconds{30'000});
  EXPECT_EQ(cache->broken(0, now)->rest, Rest::over) << "it is the first time again";
  want(0, 4);
  find(0, with_tool("x"));
  EXPECT_FALSE(cache->broken(0, now));
}

TEST_F(CatalogueCacheTest, AsksAgainBesidesWhetherAServerIsModernThatWasOnlySilent) {
  want(0, 1);
  EXPECT_EQ(effects.last_start.hurry, SurveyStart::Hurry::somebody_waits);
  cache->found(0, {with_tool("x"), {.legacy = Speaks::yes}, {}}, now);
  end_survey(0);
  EXPECT_EQ(cache->eras(0).modern, Speaks::unknown);
  EXPECT_TRUE(want(0, 2));
  EXPECT_THAT(effects.surveys, ElementsAre(0));  // one has just ended
  pass(Milliseconds{600'000});
  EXPECT_TRUE(want(0, 3)) << "nobody is held up by it";
  EXPECT_THAT(effects.surveys, ElementsAre(0, 0));
  EXPECT_EQ(effects.last_start.hurry, SurveyStart::Hurry::nobody_waits);
  find(0, with_tool("y", Era::modern));
  EXPECT_EQ(cache->find(0, now)->era, Era::modern);
}

TEST_F(CatalogueCacheTest, TellsASurveyWhatSessionsLearned) {
  cache->learn_speaks(0, Era::legacy, Speaks::no, now);
  want(0, 1);
  EXPECT_EQ(effects.last_start.known, (Eras{.legacy = Speaks::no}));
}

TEST_F(CatalogueCacheTest, ReportsHowMuchItLists) {
  want(0, 1);
  Catalogue catalogue = with_tool("x");
  catalogue.lists.at(0) = R"([{"name":"a,]\"","n":[1,2]},{"name":"b"},{"name":"c"}])";
  catalogue.lists.at(1) = R"([{"uri":"a:b"}])";
  find(0, catalogue);
  const auto lists = catalogue_json(cache->view(0, now))["lists"];
  EXPECT_EQ(lists.dump(), R"({"tools":3,"resources":1,"resourceTemplates":0,"prompts":0})");
}

TEST_F(CatalogueCacheTest, FindsAgainWhatIsPastItsExpiryAndGivesItIfThatFails) {
  want(0, 1);
  find(0, with_tool("x"));
  pass(config.catalogue.expiry);
  EXPECT_EQ(cache->find(0, now), nullptr);
  EXPECT_TRUE(cache->view(0, now).expired);
  EXPECT_FALSE(want(0, 2));
  end_survey(0, &broken);
  EXPECT_THAT(told, ElementsAre(1, 2));
  ASSERT_NE(cache->answer(0).catalogue, nullptr);
  EXPECT_EQ(cache->view(0, now).failed->message, "broken");
}

TEST_F(CatalogueCacheTest, BelievesNothingThatWasFoundInTheFuture) {
  KeptCatalogue kept{with_tool("x"), {}, {}};
  kept.catalogue.found_at_ms = now.unix_ms + 1;
  cache->put_back(0, kept);
  EXPECT_EQ(cache->find(0, now), nullptr);
}

TEST_F(CatalogueCacheTest, ServesFromDiskWithoutASurvey) {
  KeptCatalogue kept{with_tool("x"), {.legacy = Speaks::yes, .modern = Speaks::no}, {}};
  kept.catalogue.found_at_ms = now.unix_ms - 1000;
  cache->put_back(0, kept);
  EXPECT_TRUE(want(0, 1));
  EXPECT_THAT(effects.surveys, IsEmpty());
  EXPECT_EQ(cache->view(0, now).source, CatalogueSource::disk);
  EXPECT_EQ(cache->eras(0), kept.eras);
}

TEST_F(CatalogueCacheTest, RefreshesAChangedListOnceAMinuteAndServesTheOldOneMeanwhile) {
  want(0, 1);
  find(0, with_tool("x"));
  cache->list_changed(0, ListKind::tools);
  EXPECT_TRUE(cache->view(0, now).changed);
  EXPECT_TRUE(want(0, 2));
  EXPECT_THAT(effects.surveys, ElementsAre(0));  // one has just ended
  pass(Milliseconds{60'000});
  EXPECT_TRUE(want(0, 3));
  EXPECT_TRUE(want(0, 4));
  EXPECT_THAT(effects.surveys, ElementsAre(0, 0));
  find(0, with_tool("y"));
  EXPECT_FALSE(cache->view(0, now).changed);
  EXPECT_EQ(cache->find(0, now)->list(ListKind::tools), R"([{"name":"y"}])");
}

TEST_F(CatalogueCacheTest, LearnsListsFromSessionsAndCleansThem) {
  cache->learn_list(0, ListKind::tools, R"([{"name":"early"}])", now);
  EXPECT_EQ(cache->find(0, now), nullptr);
  want(0, 1);
  find(0, with_tool("x"));
  cache->list_changed(0, ListKind::tools);
  cache->learn_list(0, ListKind::tools, R"([{"name":"y","description":"\u202e"}])", now);
  EXPECT_EQ(cache->find(0, now)->list(ListKind::tools),
            R"([{"name":"y","description":"\\u{202e}"}])");
  EXPECT_EQ(cache->view(0, now).source, CatalogueSource::session);
  EXPECT_FALSE(cache->view(0, now).changed);
  cache->learn_list(0, ListKind::tools, R"([{"name":"y","description":"\u202e"}])", now);
  cache->learn_list(0, ListKind::tools, "not JSON", now);
  EXPECT_EQ(effects.saved.size(), 1U);
}

TEST_F(CatalogueCacheTest, SavesWhatSessionsLearnOnceAMinuteHoweverOftenAListChanges) {
  want(0, 1);
  find(0, with_tool("x"));
  EXPECT_FALSE(cache->next_save());
  for (int i = 0; i < 1000; ++i) {
    cache->learn_list(0, ListKind::tools, R"([{"name":"t)" + std::to_string(i) + R"("}])", now);
  }
  EXPECT_EQ(cache->find(0, now)->list(ListKind::tools), R"([{"name":"t999"}])");
  EXPECT_EQ(effects.saved.size(), 1U);
  ASSERT_EQ(cache->next_save(), now.time + CatalogueCache::save_gap);
  cache->save_due(now);
  EXPECT_EQ(effects.saved.size(), 1U);
  pass(CatalogueCache::save_gap);
  cache->save_due(now);
  ASSERT_EQ(effects.saved.size(), 2U);
  EXPECT_EQ(effects.saved.back().second.catalogue, *cache->find(0, now));
  EXPECT_FALSE(cache->next_save());
}

TEST_F(CatalogueCacheTest, SavesAtTheEndWhatIsNotSavedYetAndNothingTwice) {
  want(0, 1);
  find(0, with_tool("x"));
  cache->learn_list(0, ListKind::tools, R"([{"name":"y"}])", now);
  cache->save_all(now);
  cache->save_all(now);
  EXPECT_EQ(effects.saved.size(), 2U);
}

TEST_F(CatalogueCacheTest, ABoundHoldsForAllListsOfAServerTogether) {
  want(0, 1);
  find(0, with_tool("x"));
  config.catalogue.max_bytes = 1000;
  const std::string list = R"([{"name":"n","description":")" + std::string(400, 'x') + R"("}])";
  cache->learn_list(0, ListKind::prompts, list, now);
  cache->learn_list(0, ListKind::tools, list, now);
  EXPECT_EQ(cache->find(0, now)->list(ListKind::prompts), list);
  EXPECT_EQ(cache->find(0, now)->list(ListKind::tools), list);
  cache->learn_list(
      0, ListKind::resources,
      R"([{"uri":"a:1","name":"n","description":")" + std::string(400, 'x') + R"("}])", now);
  EXPECT_EQ(cache->find(0, now)->list(ListKind::resources), "[]");
}

TEST_F(CatalogueCacheTest, LearnsWhoItIsFromSessionsOfTheSameEra) {
  want(0, 1);
  find(0, with_tool("x", Era::modern));
  cache->learn_answer(0, Era::legacy,
                      R"({"protocolVersion":"2025-11-25","serverInfo":{"name":"old"}})", now);
  EXPECT_EQ(cache->find(0, now)->server_info, "{}");
  EXPECT_EQ(cache->eras(0), (Eras{.legacy = Speaks::yes, .modern = Speaks::yes}));
  cache->learn_answer(
      0, Era::modern,
      R"({"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n"}}})",
      now);
  EXPECT_EQ(cache->find(0, now)->server_info, R"({"name":"n"})");
}

TEST_F(CatalogueCacheTest, LearnsNothingFromWhatAHostOfAnOlderRevisionIsTold) {
  want(0, 1);
  find(0, with_tool("x"));
  cache->learn_answer(0, Era::legacy,
                      R"({"protocolVersion":"2024-11-05","serverInfo":{"name":"old"}})", now);
  EXPECT_EQ(cache->find(0, now)->server_info, "{}");
  EXPECT_EQ(cache->find(0, now)->protocol_version, "2025-11-25");
}

TEST_F(CatalogueCacheTest, DropsWhatASessionContradicts) {
  want(0, 1);
  find(0, with_tool("x"));
  cache->learn_speaks(0, Era::legacy, Speaks::no, now);
  EXPECT_EQ(cache->find(0, now), nullptr);
  EXPECT_THAT(effects.removed, ElementsAre(0));
  want(1, 2);
  find(1, with_tool("x"));
  cache->learn_speaks(1, Era::modern, Speaks::yes, now);
  EXPECT_EQ(cache->find(1, now), nullptr);
}

TEST_F(CatalogueCacheTest, GoesByTheDeclaredEra) {
  config.servers[0].era = ServerEra::modern;
  EXPECT_EQ(cache->eras(0), (Eras{.legacy = Speaks::no, .modern = Speaks::yes}));
  config.servers[0].era = ServerEra::legacy;
  EXPECT_EQ(cache->eras(0), (Eras{.legacy = Speaks::yes, .modern = Speaks::no}));
}

TEST_F(CatalogueCacheTest, ForgetsAServerAndWhatIsBeingFoundOutAboutIt) {
  want(0, 1);
  find(0, with_tool("x"));
  cache->forget_server(0);
  EXPECT_EQ(cache->find(0, now), nullptr);
  EXPECT_EQ(cache->eras(0), Eras{});
  EXPECT_THAT(effects.removed, ElementsAre(0));
  EXPECT_FALSE(want(0, 2));
  cache->forget_server(0);
  find(0, with_tool("of the time before"));
  EXPECT_EQ(cache->find(0, now), nullptr);
  EXPECT_THAT(effects.surveys, ElementsAre(0, 0, 0));  // somebody still waits
  find(0, with_tool("new"));
  EXPECT_THAT(told, ElementsAre(1, 2));
  EXPECT_NE(cache->find(0, now), nullptr);
}

}  // namespace
}  // namespace cellblock::gateway
