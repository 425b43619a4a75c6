#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/config/server_list.h"
#include "policy/reload/difference.h"
#include "policy/reload/merge.h"
#include "policy/reload/partial_difference.h"
#include "policy/reload/places.h"
#include "policy/sandbox/user_namespace_ids.h"

/// What a configuration becomes that takes the place of one in use, and what is said of it.
namespace cellblock {
namespace {

using ::testing::Contains;
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
  fresh.drain = std::chrono::milliseconds(1);
  fresh.catalogue.max_bytes = 1;
  const Difference found = difference(used, merged(used, fresh));
  EXPECT_EQ(refusal_of(found), "");
  EXPECT_THAT(lines_of(found),
              ElementsAre("daemon.drain", "calls", "catalogue", "server a: allow, rule"));
}

TEST(ReloadDifference, RefusesAsAWholeWhatOnlyAStartDoes) {
  const Config used = with({server("a")});
  Config fresh = used;
  fresh.servers[0].rules.clear();
  fresh.listen.mode = 0600;
  fresh.state_directory = "/elsewhere";
  EXPECT_EQ(refusal_of(difference(used, merged(used, fresh))),
            "takes effect at a restart only: socket; daemon.state_directory");
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

TEST(ReloadMerge, LeavesOutAServerWhoseUserTheLauncherWasNotGiven) {
  Server named = server("a");
  named.run_as = {.kind = RunAsKind::named, .user = "svc", .uid = 1200, .gid = 1200};
  named.secrets.push_back({.name = "A", .from = "/a"});
  for (const Config& used : {with({left_out_server("a")}), with({server("a")}), with({})}) {
    const Config fresh = merged(used, with({named}));
    EXPECT_FALSE(fresh.servers[0].is_usable());
    EXPECT_THAT(fresh.servers[0].breakage.cause, HasSubstr("\"svc\" was not here before"));
    EXPECT_THAT(fresh.servers[0].secrets, IsEmpty());
    EXPECT_EQ(mapped_ids(fresh), mapped_ids(used)) << "the launcher refuses whom it cannot be";
    EXPECT_FALSE(merged(fresh, with({named})).servers[0].is_usable()) << "the second time";
  }
  Config used = with({left_out_server("a"), server("b")});
  used.servers[1].run_as = named.run_as;
  EXPECT_TRUE(merged(used, with({named, server("b")})).servers[0].is_usable());
}

TEST(ReloadMerge, ForgetsAsWhomABrokenServerWouldRunWhereTheLauncherCannotBeHim) {
  Server broken = left_out_server("a");
  broken.run_as = {.kind = RunAsKind::named, .user = "svc", .uid = 1200, .gid = 1200};
  const Config fresh = merged(with({server("a")}), with({broken}));
  EXPECT_EQ(fresh.servers[0].breakage.cause, "read: it is gone");
  EXPECT_EQ(fresh.servers[0].run_as, RunAs{});
}

// --- people who came after the start -------------------------------------------------------------

Server clients_server(std::string name, std::vector<std::uint32_t> uids,
                      std::vector<std::uint32_t> gids = {}) {
  Server made = server(std::move(name));
  made.run_as = {.kind = RunAsKind::client};
  made.rules = {short_form(std::move(uids), std::move(gids), {{"", true}})};
  return made;
}

Config with_people(std::vector<Server> servers, std::vector<ClientId> clients) {
  Config config = with(std::move(servers));
  config.clients = std::move(clients);
  return config;
}

constexpr ClientId alice{1001, 1001};
constexpr ClientId bob{1002, 1002};

TEST(ReloadMerge, WhoCameAfterTheStartCostsNobodyElseAServer) {
  struct Row {
    const char* name;
    Server fresh;
    bool is_usable;
  };
  const std::vector<Row> rows = {
      {"of the newcomer alone", clients_server("a", {bob.uid}), false},
      {"of the newcomer and another", clients_server("a", {alice.uid, bob.uid}), true},
      {"of a group", clients_server("a", {bob.uid}, {500}), true},
      {"of another alone", clients_server("a", {alice.uid}), true},
      {"with ids of its own", server("a"), true},
  };
  const Config used = with_people({clients_server("a", {alice.uid})}, {alice});
  for (const Row& row : rows) {
    const Config fresh = merged(used, with_people({row.fresh}, {alice, bob}));
    EXPECT_EQ(fresh.servers[0].is_usable(), row.is_usable) << row.name;
    EXPECT_THAT(fresh.clients, ElementsAre(alice)) << row.name;
    EXPECT_EQ(mapped_ids(fresh), mapped_ids(used)) << row.name;
    EXPECT_EQ(refusal_of(difference(used, fresh)), "") << row.name;
    ASSERT_EQ(fresh.broken.size(), 1U) << row.name;
    EXPECT_EQ(fresh.broken[0].name, part_of_clients);
    EXPECT_THAT(fresh.broken[0].breakage.cause, HasSubstr("uid 1002 cannot be run as"));
    EXPECT_THAT(fresh.broken[0].breakage.cause, HasSubstr("restart cellblockd"));
  }
}

TEST(ReloadMerge, WhoCameAfterTheStartIsLeftOutByEachReload) {
  const Config used = with_people({clients_server("a", {alice.uid})}, {alice});
  const Config asked = with_people({clients_server("a", {alice.uid, bob.uid})}, {alice, bob});
  const Config once = merged(used, asked);
  EXPECT_EQ(merged(once, asked), once);
  EXPECT_THAT(merged(once, used).broken, IsEmpty()) << "until nobody names him";
}

TEST(ReloadMerge, AnotherPrimaryGroupIsAnotherPerson) {
  const ClientId moved{alice.uid, 1500};
  const Config used = with_people({clients_server("a", {alice.uid})}, {alice});
  const Config fresh = merged(used, with_people({clients_server("a", {alice.uid})}, {moved}));
  EXPECT_THAT(fresh.clients, IsEmpty()) << "and the group that he had is not kept for him";
  EXPECT_FALSE(fresh.servers[0].is_usable());
}

TEST(ReloadMerge, WhoWasKnownAtTheStartIsRunAsWhicheverServerNamedHim) {
  const Config used = with_people({server("a")}, {alice, bob});
  const Config fresh = merged(used, with_people({clients_server("a", {bob.uid})}, {bob}));
  EXPECT_TRUE(fresh.servers[0].is_usable());
  EXPECT_THAT(fresh.broken, IsEmpty());
  EXPECT_THAT(fresh.clients, ElementsAre(alice, bob));
}

TEST(ReloadMerge, CountsManyWhoCameAfterTheStart) {
  std::vector<ClientId> many;
  for (std::uint32_t i = 0; i < 20; ++i) many.push_back({3000 + i, 3000 + i});
  const Config fresh = merged(with({server("a")}), with_people({server("a")}, many));
  EXPECT_THAT(fresh.broken.at(0).breakage.cause, HasSubstr("3007 and 12 more cannot be run as"));
}

TEST(ReloadMerge, RootlessTheUserCanAlwaysBeRunAs) {
  Config used = with({server("a")});
  used.mode = RunMode::user;
  Config asked = with_people({clients_server("a", {alice.uid})}, {alice});
  asked.mode = RunMode::user;
  EXPECT_TRUE(merged(used, asked).servers[0].is_usable());
  EXPECT_EQ(refusal_of(difference(used, merged(used, asked))), "");
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

TEST(ReloadMerge, ATokenThatIsNotThereAnyMoreIsRevokedAndKeepsItsPlace) {
  struct Row {
    const char* name;
    Config fresh;
  };
  Config other_user = with_tokens({"ci", "other"}, {});
  other_user.http->tokens[0].uid = 1001;
  Config other_groups = with_tokens({"ci", "other"}, {});
  other_groups.http->tokens[0].groups = {27};
  Config other_secret = with_tokens({"ci", "other"}, {});
  other_secret.http->tokens[0].sha256 = {1};
  const std::vector<Row> rows = {{"removed", with_tokens({"other"}, {})},
                                 {"broken", with_tokens({"other"}, {"ci"})},
                                 {"of another user", other_user},
                                 {"of other groups", other_groups},
                                 {"another secret", other_secret}};
  Config used = with_tokens({"ci", "other"}, {});
  used.http->tokens[0].sha256 = {9};
  for (const Row& row : rows) {
    const Config fresh = merged(used, row.fresh);
    const Difference found = difference(used, fresh);
    EXPECT_EQ(refusal_of(found), "") << row.name;
    EXPECT_THAT(lines_of(found), Contains("listen.http.token ci: revoked, with its sessions"));
    const std::vector<HttpToken>& tokens = fresh.http->tokens;
    EXPECT_TRUE(tokens[0].revoked) << row.name;
    EXPECT_EQ(tokens[0].sha256, HttpToken{}.sha256) << row.name;
    EXPECT_EQ(tokens[1], used.http->tokens[1]) << row.name;
    EXPECT_TRUE(keeps_places(used, fresh)) << row.name;
    EXPECT_EQ(merged(fresh, row.fresh), fresh) << row.name;
    EXPECT_TRUE(merged(fresh, used).http->tokens[0].revoked) << "what comes back has a new place";
  }
}

TEST(ReloadMerge, ANewTokenGetsTheNextPlace) {
  const Config used = with_tokens({"ci"}, {});
  const Config fresh = merged(used, with_tokens({"another", "ci"}, {}));
  EXPECT_EQ(fresh.http->tokens, with_tokens({"ci", "another"}, {}).http->tokens);
  EXPECT_THAT(lines_of(difference(used, fresh)), ElementsAre("listen.http.token another: added"));
}

TEST(ReloadMerge, APlaceOfATokenIsNeverAnothers) {
  const Config used = with_tokens({"ci", "other"}, {});
  EXPECT_FALSE(keeps_places(used, with_tokens({"other", "ci"}, {})));
  EXPECT_FALSE(keeps_places(used, with_tokens({"ci"}, {})));
  Config many = used;
  many.http->tokens.resize(max_token_places + 1);
  EXPECT_FALSE(keeps_places(used, many));
}

TEST(ReloadTakeOver, LeavesNamesOfTokensWhereTheyAre) {
  Config live = with_tokens({"ci", "a name that is longer than any small string"}, {});
  live.http->tokens.reserve(8);
  const std::string_view first = live.http->tokens[0].name;
  const std::string_view second = live.http->tokens[1].name;
  const Config fresh = merged(live, with_tokens({"new"}, {}));
  take_over(live, fresh);
  EXPECT_EQ(live, fresh);
  EXPECT_EQ(first.data(), live.http->tokens[0].name.data());
  EXPECT_EQ(second.data(), live.http->tokens[1].name.data());
}

// --- what only a restart can do ------------------------------------------------------------------

TEST(ReloadDifference, SaysWhatOfTheInstallationTakesEffectAtOnce) {
  struct Row {
    const char* key;
    std::function<void(Config&)> change;
    bool is_at_once;
  };
  const std::vector<Row> rows = {
      {"audit.arguments", [](Config& c) { c.audit.arguments = AuditArguments::none; }, true},
      {"audit.on_failure", [](Config& c) { c.audit.on_failure = AuditFailure::alarm; }, true},
      {"audit.max_bytes", [](Config& c) { c.audit.max_bytes *= 2; }, true},
      {"audit.durability", [](Config& c) { c.audit.durability = AuditDurability::synced; }, true},
      {"audit.keep", [](Config& c) { c.audit.keep = 1; }, false},
      {"audit.journal", [](Config& c) { c.audit.journal = AuditJournal::all; }, false},
      {"listen.http.origins", [](Config& c) { c.http->origins = {"https://a.example"}; }, true},
      {"listen.http.max_sessions", [](Config& c) { c.http->max_sessions = 3; }, true},
      {"listen.http.port", [](Config& c) { c.http->port = 1; }, false},
      {"listen.http.socket", [](Config& c) { c.http->socket = "/run/a"; }, false},
      {"listen.http.mode", [](Config& c) { c.http->mode = 0600; }, false},
      {"listen.http", [](Config& c) { c.http.reset(); }, false},
      {"metrics", [](Config& c) { c.metrics.emplace(); }, false},
      {"socket", [](Config& c) { c.listen.mode = 0600; }, false},
  };
  const Config used = with_tokens({"ci"}, {});
  for (const Row& row : rows) {
    Config asked = used;
    row.change(asked);
    const Difference found = difference(used, merged(used, asked));
    EXPECT_EQ(refusal_of(found).empty(), row.is_at_once) << row.key;
    EXPECT_FALSE(found.empty()) << row.key;
  }
}

TEST(ReloadPartial, LeavesWhatOnlyARestartDoesAndTakesTheRest) {
  const Config used = with_tokens({"ci"}, {});
  Config asked = used;
  asked.servers[0].rules.clear();
  asked.listen.mode = 0600;
  asked.audit.keep = 3;
  asked.audit.max_bytes *= 2;
  Config next = merged(used, asked);
  const Difference found = partial_difference(used, next);
  EXPECT_EQ(refusal_of(found), "");
  EXPECT_THAT(found.left, ElementsAre("socket", "audit.keep"));
  EXPECT_EQ(next.listen, used.listen);
  EXPECT_EQ(next.audit.keep, used.audit.keep);
  EXPECT_EQ(next.audit.max_bytes, asked.audit.max_bytes);
  EXPECT_THAT(lines_of(found), ElementsAre("audit", "server a: allow, rule"));
}

TEST(ReloadPartial, RevokesTheTokensOfATableThatWaitsForItsEnd) {
  const Config used = with_tokens({"ci"}, {});
  Config next = merged(used, with({server("a")}));
  const Difference found = partial_difference(used, next);
  EXPECT_EQ(refusal_of(found), "");
  EXPECT_THAT(lines_of(found), ElementsAre("listen.http.token ci: revoked, with its sessions"));
}

TEST(ReloadPartial, RefusesWhatEverythingElseDependsOn) {
  const Config used = with({server("a")});
  const std::vector<std::function<void(Config&)>> changes = {
      [](Config& c) { c.identity.uid = 7; }, [](Config& c) { c.state_directory = "/elsewhere"; },
      [](Config& c) { c.audit_log = "/elsewhere"; }, [](Config& c) { c.kernel.min_landlock = 7; }};
  for (const auto& change : changes) {
    Config asked = used;
    asked.listen.mode = 0600;
    change(asked);
    Config next = merged(used, asked);
    EXPECT_NE(refusal_of(partial_difference(used, next)), "");
  }
}

}  // namespace
}  // namespace cellblock
