#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "policy/config/server_list.h"
#include "policy/reload/difference.h"
#include "policy/reload/merge.h"

/// What a configuration becomes that takes the place of one in use, and what is said of it.
namespace cellblock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Server server(std::string name) {
  Server made;
  made.name = std::move(name);
  made.command = {"/bin/true"};
  made.rules = {short_form({1000}, {}, {{"", true}})};
  return made;
}

Config with(std::vector<Server> servers) {
  Config config;
  config.servers = std::move(servers);
  return config;
}

std::vector<std::string> names_in(const Config& config) {
  std::vector<std::string> names;
  for (const Server& one : config.servers) names.push_back(one.name);
  return names;
}

TEST(ReloadMerge, KeepsTheIndexOfEachServerAndAppendsNewOnes) {
  const Config used = with({server("b"), server("d")});
  const Config fresh = merged(used, with({server("a"), server("b"), server("c"), server("d")}));
  EXPECT_THAT(names_in(fresh), ElementsAre("b", "d", "a", "c"));
}

TEST(ReloadMerge, LeavesARemovedServerInItsPlaceOffAndNobodys) {
  const Config fresh = merged(with({server("a"), server("b")}), with({server("b")}));
  EXPECT_THAT(names_in(fresh), ElementsAre("a", "b"));
  EXPECT_TRUE(fresh.servers[0].removed);
  EXPECT_FALSE(fresh.servers[0].enabled);
  EXPECT_THAT(fresh.servers[0].rules, IsEmpty());
  EXPECT_EQ(server_index(fresh, "a"), std::nullopt);
  EXPECT_EQ(server_index(fresh, "b"), 1U);
}

TEST(ReloadMerge, GivesAServerThatComesBackItsOldPlace) {
  const Config without = merged(with({server("a"), server("b")}), with({server("b")}));
  const Config again = merged(without, with({server("a"), server("b")}));
  EXPECT_EQ(again.servers[0], server("a"));
  EXPECT_THAT(lines_of(difference(without, again)), ElementsAre("server a: declared again"));
  EXPECT_EQ(refusal_of(difference(without, again)), "");
}

TEST(ReloadMerge, TakesRulesThatOnlyMovedInTheFileForTheSame) {
  const Config used = with({server("a")});
  Config moved = used;
  moved.servers[0].rules[0].line = 7;
  EXPECT_EQ(merged(used, moved), used);
}

TEST(ReloadTakeOver, LeavesEachServerWhereItIs) {
  Config live = with({server("a"), server("b")});
  const Server* second = &live.servers[1];
  Config fresh = live;
  fresh.servers[1].enabled = false;
  fresh.admins = {7};
  take_over(live, fresh);
  EXPECT_EQ(live, fresh);
  EXPECT_EQ(second, &live.servers[1]);
}

TEST(ReloadDifference, IsEmptyBetweenAConfigurationAndItself) {
  const Config used = with({server("a")});
  EXPECT_TRUE(difference(used, merged(used, used)).empty());
}

TEST(ReloadDifference, LetsPolicyTakeEffectAtOnce) {
  const Config used = with({server("a")});
  Config fresh = used;
  fresh.servers[0].rules.clear();
  fresh.admins = used.admins;
  fresh.calls.user.in_flight = 3;
  const Difference found = difference(used, merged(used, fresh));
  EXPECT_EQ(refusal_of(found), "");
  EXPECT_THAT(lines_of(found), ElementsAre("calls", "server a: allow, rule"));
}

TEST(ReloadDifference, RefusesAsAWholeWhatOnlyAStartDoes) {
  const Config used = with({server("a")});
  Config fresh = used;
  fresh.servers[0].rules.clear();
  fresh.listen.mode = 0600;
  fresh.drain = std::chrono::milliseconds(1);
  EXPECT_EQ(refusal_of(difference(used, merged(used, fresh))),
            "takes effect at a restart only: daemon.drain; socket");
}

TEST(ReloadDifference, KnowsWhichServersNeedOtherCells) {
  const Config used = with({server("a"), server("b"), server("gone")});
  Config fresh = with({server("a"), server("b"), server("new")});
  fresh.servers[0].command = {"/bin/false"};
  fresh.servers[1].rules.clear();
  const Difference found = difference(used, merged(used, fresh));
  EXPECT_EQ(refusal_of(found), "");
  EXPECT_THAT(found.servers,
              ElementsAre(ChangedServer{"a", ServerChange::cell, {"command"}, 0},
                          ChangedServer{"b", ServerChange::policy, {"allow", "rule"}, 1},
                          ChangedServer{"gone", ServerChange::removed, {}, 2},
                          ChangedServer{"new", ServerChange::added, {}, 3}));
}

TEST(ReloadDifference, NamesOfKeysThatAreKeptTogetherTheOneThatChanged) {
  struct Row {
    std::string key;
    std::function<void(Server&)> change;
  };
  const std::vector<Row> rows = {
      {"program or read", [](Server& s) { s.binds.push_back({"/r", "/r", Access::read}); }},
      {"write", [](Server& s) { s.binds.push_back({"/w", "/w", Access::write}); }},
      {"env_from_file", [](Server& s) { s.secrets.push_back({.name = "A", .from = "/a"}); }},
      {"secret_files",
       [](Server& s) {
         s.secrets.push_back({.name = "A", .from = "/a", .delivery = SecretDelivery::file});
       }},
      {"profile", [](Server& s) { s.syscalls.refuse = {"chmod"}; }},
      {"write_exec", [](Server& s) { s.syscalls.write_exec = WriteExec::refused; }},
      {"start.handshake_timeout", [](Server& s) { s.timeouts.handshake *= 2; }},
      {"stop.terminate", [](Server& s) { s.timeouts.terminate *= 2; }},
  };
  for (const Row& row : rows) {
    const Config used = with({server("a")});
    Config fresh = used;
    row.change(fresh.servers[0]);
    EXPECT_THAT(lines_of(difference(used, fresh)), ElementsAre("server a: " + row.key));
  }
}

TEST(ReloadDifference, SaysWhatNoKeySays) {
  const Config used = with({server("a"), server("b"), server("c")});
  Config fresh = used;
  fresh.servers[0].fingerprint[0] = 1;
  fresh.servers[1].storage = Storage::disks;
  fresh.servers[2].secret_marks.key[0] = 1;
  EXPECT_THAT(lines_of(difference(used, fresh)),
              ElementsAre("server a: files of its command", "server b: what is found on disk",
                          "server c: the value of a secret"));
}

TEST(ReloadDifference, LeavesCellsAloneOfAServerWhosePathIsGone) {
  const Config used = with({server("a")});
  Config fresh = used;
  fresh.servers[0].found = {true, "write \"/srv/x\" does not exist"};
  const Difference found = difference(used, fresh);
  EXPECT_THAT(lines_of(found), ElementsAre("server a: what is found at its paths"));
  EXPECT_EQ(found.servers[0].what, ServerChange::policy);
}

TEST(ReloadDifference, BeginsAnewWithAServerWhosePathIsBack) {
  Config used = with({server("a")});
  used.servers[0].found = {true, "write \"/srv/x\" does not exist"};
  Config fresh = used;
  fresh.servers[0].found.broken.clear();
  const Difference found = difference(used, fresh);
  ASSERT_EQ(found.servers.size(), 1U);
  EXPECT_EQ(found.servers[0].what, ServerChange::cell);
}

TEST(ReloadDifference, SaysNothingOfValues) {
  const Config used = with({server("a")});
  Config fresh = used;
  fresh.servers[0].environment = {{"TOKEN", "hunter2"}};
  EXPECT_THAT(lines_of(difference(used, fresh)), ElementsAre("server a: env"));
}

// --- what is left out ----------------------------------------------------------------------------

Server left_out_server(std::string name, std::string why = "read: it is gone") {
  Server made = server(std::move(name));
  made.breakage.cause = std::move(why);
  return made;
}

TEST(ReloadDifference, TellsWhatBecomesOfAServerThatIsLeftOut) {
  struct Row {
    Server used;
    Server fresh;
    const char* says;
    ServerChange what;
  };
  Server removed = server("a");
  removed.removed = true;
  Server narrowed = left_out_server("a");
  narrowed.rules.clear();
  const std::vector<Row> rows = {
      {server("a"), left_out_server("a"), "server a: broken", ServerChange::broken},
      {left_out_server("a"), left_out_server("a", "another"), "server a: broken",
       ServerChange::broken},
      {left_out_server("a"), narrowed, "server a: broken", ServerChange::broken},
      {left_out_server("a"), server("a"), "server a: no longer broken", ServerChange::mended},
      {removed, left_out_server("a"), "server a: declared again, but broken",
       ServerChange::returned},
      {left_out_server("a"), removed, "server a: removed", ServerChange::removed},
  };
  for (const Row& row : rows) {
    const Difference found = difference(with({row.used}), with({row.fresh}));
    EXPECT_THAT(lines_of(found), ElementsAre(row.says));
    EXPECT_EQ(found.servers.at(0).what, row.what) << row.says;
  }
  EXPECT_TRUE(difference(with({left_out_server("a")}), with({left_out_server("a")})).empty());
}

TEST(ReloadDifference, NamesANewServerThatIsLeftOut) {
  const Difference found = difference(with({}), with({left_out_server("a")}));
  EXPECT_THAT(lines_of(found), ElementsAre("server a: added, but broken"));
}

TEST(ReloadMerge, LeavesAMendedServerOutWhoseUserTheLauncherWasNotGiven) {
  Server mended = server("a");
  mended.run_as = {.kind = RunAsKind::named, .user = "svc", .uid = 1200, .gid = 1200};
  mended.secrets.push_back({.name = "A", .from = "/a"});
  const Config fresh = merged(with({left_out_server("a")}), with({mended}));
  EXPECT_FALSE(fresh.servers[0].is_usable());
  EXPECT_THAT(fresh.servers[0].breakage.cause, HasSubstr("\"svc\" was not here before"));
  EXPECT_THAT(fresh.servers[0].secrets, IsEmpty());
  Config used = with({left_out_server("a"), server("b")});
  used.servers[1].run_as = mended.run_as;
  EXPECT_TRUE(merged(used, with({mended, server("b")})).servers[0].is_usable());
}

TEST(ReloadMerge, AsWhomCellsRunIsNotKeptOfAServerThatHadNone) {
  Server back = server("a");
  back.run_as = {.kind = RunAsKind::named, .user = "svc", .uid = 1200, .gid = 1200};
  back.found.broken = "read: it is gone";
  Config used = with({left_out_server("a"), server("b")});
  used.servers[1].run_as = back.run_as;
  EXPECT_EQ(merged(used, with({back, server("b")})).servers[0].run_as.kind, RunAsKind::named);
}

HttpToken token_named(const std::string& name) { return {.name = name}; }

Config with_tokens(const std::vector<std::string>& names, const std::vector<std::string>& broken) {
  Config config = with({server("a")});
  config.http.emplace();
  for (const std::string& name : names) config.http->tokens.push_back(token_named(name));
  for (const std::string& name : broken) {
    config.broken.push_back({"listen.http.token." + name, {.cause = "it is gone"}});
  }
  return config;
}

TEST(ReloadMerge, ATokenThatBreaksOrIsMendedKeepsNothingElseFromBeingReloaded) {
  const Config good = with_tokens({"ci", "other"}, {});
  const Config half = with_tokens({"other"}, {"ci"});
  const Config breaks = merged(good, half);
  EXPECT_EQ(breaks.http, good.http);
  EXPECT_EQ(breaks.broken.at(0).breakage.cause,
            "it is gone; it is taken until cellblockd is restarted");
  EXPECT_EQ(refusal_of(difference(good, breaks)), "");
  const Config mended = merged(half, good);
  EXPECT_EQ(mended.http, half.http);
  EXPECT_EQ(mended.broken.at(0).breakage.cause, "it can be used when cellblockd is restarted");
  EXPECT_EQ(refusal_of(difference(half, mended)), "");
  EXPECT_EQ(merged(mended, good), mended);
}

TEST(ReloadMerge, OtherChangesOfTokensStillWaitForARestart) {
  const Config good = with_tokens({"ci", "other"}, {});
  const Config fewer = merged(good, with_tokens({}, {"ci"}));
  EXPECT_THAT(refusal_of(difference(good, fewer)), HasSubstr("listen.http"));
}

}  // namespace
}  // namespace cellblock
