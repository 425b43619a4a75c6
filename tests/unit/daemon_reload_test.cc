#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "policy/config/config_bytes.h"
#include "policy/redaction/secret_marks.h"
#include "supervisor/daemon/reload/reload_server.h"
#include "supervisor/daemon/sockets/peer_credentials.h"
#include "supervisor/loader/reload/reload_report.h"

/// How another configuration comes to a daemon that runs.
namespace cellblock::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ReloadFacts facts{.version = "1.2.3",
                        .config_path = "/etc/x.toml",
                        .socket = "",
                        .credentials = "/run/credentials/x",
                        .mode = RunMode::user,
                        .read_by = 64001};

Fd sealed(std::string_view text) {
  return make_sealed("test", std::as_bytes(std::span(text))).value();
}

// --- what is said --------------------------------------------------------------------------------

TEST(ReloadFacts, AreReadAsTheyWereSealed) {
  const auto read = read_reload_facts(seal(facts)->get());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->version, facts.version);
  EXPECT_EQ(read->config_path, facts.config_path);
  EXPECT_EQ(read->socket, "");
  EXPECT_EQ(read->credentials, facts.credentials);
  EXPECT_EQ(read->mode, RunMode::user);
  EXPECT_EQ(read->read_by, 64001U);
}

TEST(ReloadFacts, AreNothingElse) {
  for (const std::string_view text : {std::string_view(), std::string_view("1.2.3\0", 6)}) {
    EXPECT_FALSE(read_reload_facts(sealed(text).get()));
  }
}

// --- who says it ---------------------------------------------------------------------------------

class ReloadDeskTest : public ::testing::Test {
 protected:
  /// The asker's end.
  Fd stand() {
    Pair ends = make_stream_pair().value();
    server_.add({.uid = 0, .pid = 7}, std::move(ends.first));
    return std::move(ends.second);
  }

  void turn() {
    loop_.restart();
    loop_.poll();
  }

  static std::string heard(const Fd& socket) {
    std::array<char, 1024> bytes;
    const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return {bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  boost::asio::io_context loop_{1};
  std::vector<std::string> asked_;
  std::vector<Fd> closed_later_;
  ReloadServer::Around around_{
      .offer = [] { return Result<ReloadMessage>(ReloadMessage{sealed("used"), *seal(facts)}); },
      .asked =
          [this](const ReloadServer::Asker& asker, const ReloadRequest& request) {
            const auto bytes = read_all(request.config.get(), 100, Sealing::must_be_sealed).value();
            asked_.push_back(
                std::to_string(asker.uid) + " " +
                std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
          },
      .close_later = [this](Fd socket) { closed_later_.push_back(std::move(socket)); }};
  ReloadServer server_{loop_, around_};
};

TEST_F(ReloadDeskTest, OffersWhatIsUsedAndTakesWhatComesBack) {
  const Fd asker = stand();
  ASSERT_TRUE(receive_offer(asker.get()));
  ASSERT_TRUE(send_request(
      asker.get(), {sealed("next"), sealed("secrets"), sealed("declared"), sealed("mounts")}));
  turn();
  EXPECT_THAT(asked_, ElementsAre("0 next"));
  server_.answer("reloaded\n");
  EXPECT_EQ(heard(asker), "reloaded\n");
}

TEST_F(ReloadDeskTest, HearsOneAtATime) {
  const Fd first = stand();
  const Fd second = stand();
  EXPECT_THAT(heard(second), HasSubstr("somebody else"));
  ASSERT_TRUE(receive_offer(first.get()));
  server_.answer("refused\n");
  const Fd third = stand();
  EXPECT_TRUE(receive_offer(third.get()));
}

TEST_F(ReloadDeskTest, LetsGoOfWhoeverLeavesOrTalks) {
  {
    const Fd gone = stand();
  }
  turn();
  const Fd talker = stand();
  ASSERT_TRUE(receive_offer(talker.get()));
  constexpr std::string_view words = "GET / HTTP/1.1\r\n";
  ASSERT_GT(::send(talker.get(), words.data(), words.size(), 0), 0);
  turn();
  EXPECT_THAT(heard(talker), HasSubstr("no configuration"));
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(ReloadDeskTest, HearsNobodyOnceItIsClosed) {
  const Fd before = stand();
  server_.close();
  ASSERT_TRUE(receive_offer(before.get()));
  EXPECT_THAT(heard(before), HasSubstr("stopping"));
  EXPECT_THAT(heard(stand()), HasSubstr("stopping"));
}

// --- who may have what ---------------------------------------------------------------------------

Config with_rule_for_group(std::uint32_t gid) {
  Config config;
  Server server;
  server.name = "a";
  server.rules = {short_form({}, {gid}, {{"", true}})};
  config.servers = {server};
  return config;
}

TEST(PeerCredentialCache, MayStartWhatAnyOfTheirGroupsMay) {
  PeerCredentialCache peers;
  peers.add({.uid = 1000, .gid = 1000, .groups = {}});
  peers.add({.uid = 1000, .gid = 1000, .groups = {50}});
  EXPECT_TRUE(peers.servers_for(1000, with_rule_for_group(50)).contains(0));
  EXPECT_FALSE(peers.servers_for(1000, with_rule_for_group(51)).contains(0));
  EXPECT_FALSE(peers.servers_for(1001, with_rule_for_group(50)).contains(0));
  peers.forget(1000);
  EXPECT_FALSE(peers.servers_for(1000, with_rule_for_group(50)).contains(0));
}

TEST(PeerCredentialCache, AreRememberedUpToABoundTheOldestForgottenFirst) {
  PeerCredentialCache peers;
  for (std::uint32_t gid = 0; gid <= PeerCredentialCache::most; ++gid) {
    peers.add({.uid = 1000, .gid = 1000, .groups = {gid}});
  }
  EXPECT_FALSE(peers.servers_for(1000, with_rule_for_group(0)).contains(0));
  EXPECT_TRUE(peers.servers_for(1000, with_rule_for_group(1)).contains(0));
}

// --- secrets -------------------------------------------------------------------------------------

Server with_secret(std::string name) {
  Server server;
  server.name = std::move(name);
  server.secrets.resize(1);
  return server;
}

TEST(ReloadedSecrets, AreWhereTheirServersAre) {
  Config merged;
  Server gone;
  gone.name = "gone";
  merged.servers = {with_secret("b"), gone, with_secret("a")};
  Config fresh;
  fresh.servers = {with_secret("a"), with_secret("b")};
  const Secrets placed =
      in_places_of(merged, fresh, {.servers = {{.values = {"of a"}}, {.values = {"of b"}}}});
  ASSERT_EQ(placed.servers.size(), 3U);
  EXPECT_THAT(placed.servers[0].values, ElementsAre("of b"));
  EXPECT_THAT(placed.servers[1].values, IsEmpty());
  EXPECT_THAT(placed.servers[2].values, ElementsAre("of a"));
}

TEST(ReloadedSecrets, KeepTheirMarksWhereTheirValuesAreTheSame) {
  const std::vector<std::string> same = {"the same long secret"};
  const std::vector<std::string> other = {"another long secret!"};
  MarkKeyBytes old_key{};
  MarkKeyBytes new_key{};
  new_key[0] = 1;
  Config used;
  used.servers = {with_secret("a"), with_secret("b")};
  for (Server& server : used.servers) server.secret_marks = mark_secrets(same, old_key);
  Config fresh = used;
  fresh.servers[0].secret_marks = mark_secrets(same, new_key);
  fresh.servers[1].secret_marks = mark_secrets(other, new_key);
  keep_marks(used, fresh, {.servers = {{.values = same}, {.values = other}}});
  EXPECT_EQ(fresh.servers[0].secret_marks, used.servers[0].secret_marks);
  EXPECT_NE(fresh.servers[1].secret_marks, used.servers[1].secret_marks);
}

// --- what is told --------------------------------------------------------------------------------

TEST(ReloadReport, TellsAValueBelowItsOwnKeyOnly) {
  const Difference difference{.servers = {},
                              .keys = {"calls", "daemon.max_cells", "daemon.max_cells_per_user"},
                              .at_start = {}};
  const std::vector<ChangedKey> values{{"calls.user.in_flight", "", "3"},
                                       {"daemon.max_cells_per_user", "1", "2"}};
  EXPECT_EQ(reload_text(difference, values, {}, ReloadTense::would),
            "would change\n"
            "  calls: at once\n"
            "    user.in_flight: none -> 3\n"
            "  daemon.max_cells: at once\n"
            "  daemon.max_cells_per_user: at once\n"
            "    daemon.max_cells_per_user: 1 -> 2\n");
}

TEST(ReloadReport, NamesWhatIsLeftOutWhetherItIsNewOrNot) {
  const Difference difference{
      .servers = {{.name = "a", .what = ServerChange::broken},
                  {.name = "b", .what = ServerChange::mended},
                  {.name = "c", .what = ServerChange::added, .is_broken = true}},
      .keys = {},
      .at_start = {}};
  const std::vector<PartLeftOut> broken{{"server a", "read: gone (/c.toml:3)"}};
  EXPECT_EQ(reload_text(difference, {}, broken, ReloadTense::done),
            "reloaded\n"
            "  server a: broken: it is left out, and its sessions are ended\n"
            "  server b: no longer broken: can be used\n"
            "  server c: added, but broken: it is left out\n"
            "broken: server a: read: gone (/c.toml:3)\n");
  EXPECT_EQ(reload_text({}, {}, broken, ReloadTense::would),
            "nothing has changed\nbroken: server a: read: gone (/c.toml:3)\n");
  EXPECT_THAT(reload_json({}, {}, broken, ReloadTense::done),
              HasSubstr(R"x("broken":[{"what":"server a","cause":"read: gone (/c.toml:3)"}])x"));
}

TEST(ReloadReport, NamesWhatIsLeftForARestart) {
  const Difference difference{.servers = {}, .keys = {"calls"}, .left = {"socket", "audit.keep"}};
  EXPECT_EQ(reload_text(difference, {}, {}, ReloadTense::done),
            "reloaded\n"
            "  calls: at once\n"
            "left for a restart: socket\n"
            "left for a restart: audit.keep\n");
  EXPECT_THAT(reload_json(difference, {}, {}, ReloadTense::done),
              HasSubstr(R"("left":["socket","audit.keep"])"));
}

TEST(ReloadReport, TellsEachChangeAndWhenItTakesEffect) {
  const Difference difference{
      .servers = {{.name = "a", .what = ServerChange::policy, .keys = {"allow", "rule", "results"}},
                  {.name = "b", .what = ServerChange::removed, .keys = {}}},
      .keys = {"role"},
      .at_start = {}};
  const std::vector<ChangedKey> values{
      {"daemon.max_cells", "1", "2"},  // of a key that is not named: not told
      {"server.a.results.max_bytes", "\"4KiB\"", "\"8KiB\""},
      {"server.a.limits.memory", "", "\"1GiB\""}};
  EXPECT_EQ(reload_text(difference, values, {}, ReloadTense::would),
            "would change\n"
            "  role: at once\n"
            "  server a: allow, rule, results: from the next request on\n"
            "    results.max_bytes: \"4KiB\" -> \"8KiB\"\n"
            "    limits.memory: none -> \"1GiB\"\n"
            "  server b: removed: its sessions are ended\n");
  EXPECT_EQ(reload_text({}, {}, {}, ReloadTense::done), "nothing has changed\n");
  EXPECT_EQ(
      reload_json(difference, {values.back()}, {}, ReloadTense::done),
      R"({"ok":true,"applied":true,"changes":[{"key":"role"},)"
      R"({"server":"a","change":"policy","keys":["allow","rule","results"]},)"
      R"({"server":"b","change":"removed","keys":[]}],)"
      R"("values":[{"key":"server.a.limits.memory","from":"","to":"\"1GiB\""}],"left":[],"broken":[]})"
      "\n");
  EXPECT_EQ(reload_error_json("why"),
            R"({"ok":false,"error":{"code":"not_reloaded","message":"why","exit_code":1}})"
            "\n");
}

}  // namespace
}  // namespace cellblock::daemon
