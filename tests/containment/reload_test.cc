// The launcher takes another configuration while it runs: later cells are made from it, those that
// run are left alone, and nothing of the host stays within reach.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/containment/containment_fixture.h"
#include "tests/containment/launcher_process.h"
#include "tests/containment/launcher_rig.h"

namespace cellblock::containment {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int identity = static_cast<int>(wire::ReloadRefusal::identity);
constexpr int calls = static_cast<int>(wire::ReloadRefusal::calls);
constexpr int unreadable = static_cast<int>(wire::ReloadRefusal::unreadable);
constexpr int not_prepared = static_cast<int>(wire::ReloadRefusal::not_prepared);
constexpr int not_permitted = static_cast<int>(wire::StartRefusal::not_permitted);
constexpr int workspace_came_later = static_cast<int>(wire::StartRefusal::workspace_came_later);
constexpr int disabled = static_cast<int>(wire::StartRefusal::disabled);

const std::string read_data = "cat /data/word 2>/dev/null || echo nothing";
const std::string read_workspace = "cat /workspace/word 2>/dev/null || echo nothing";

ServerSet servers(std::initializer_list<std::size_t> indices) {
  ServerSet set;
  for (const std::size_t index : indices) set.add(index);
  return set;
}

std::string not_reloaded(int refusal, const std::string& rest) {
  return "not reloaded: " + std::to_string(refusal) + ", " + rest;
}

/// Done one after the other, as they stand.
std::string in_order(std::initializer_list<std::string> words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string refused(int refusal) { return "refused: " + std::to_string(refusal); }

class Reload : public testing::Test {
 protected:
  Reload() : directory_(ids_here().daemon), config_(rig_config(directory_)) {
    directory_.write("old/word", "old\n");
    directory_.write("new/word", "new\n");
    config_.servers = {seeing("first", "old")};
  }

  /// A shell that has that directory at /data.
  Server seeing(const std::string& name, const std::string& source) const {
    Server server = shell_server(name);
    server.binds = {{directory_.path(source), "/data", Access::read}};
    return server;
  }

  static std::string sees(LauncherRig& rig, std::uint32_t server) {
    return rig.in_cell(server, read_data);
  }

  Config with(std::initializer_list<Server> declared) const {
    Config config = config_;
    config.servers = declared;
    return config;
  }

  /// With a gateway for a user who may use the first two servers.
  std::string with_gateway(const std::function<std::string(LauncherRig&)>& body) const {
    return with_launcher(config_, [&](LauncherRig& rig) {
      const std::string trouble = rig.start_gateway(servers({0, 1}));
      return trouble.empty() ? body(rig) : trouble;
    });
  }

  harness::TestDirectory directory_;
  Config config_;
};

TEST_F(Reload, AddsAServerThatCanBeStarted) {
  const Config next = with({seeing("first", "old"), seeing("second", "new")});
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              return in_order({rig.reload(next), sees(rig, 0), sees(rig, 1)});
            }),
            "reloaded old new");
}

TEST_F(Reload, ShowsOtherPathsToCellsThatAreStartedLaterAndToNoneThatRun) {
  const Config next = with({seeing("first", "new")});
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              return in_order({sees(rig, 0), rig.reload(next),
                               rig.tell_gateway("ask 0 " + read_data), sees(rig, 0)});
            }),
            "old reloaded old new");
}

TEST_F(Reload, StartsNothingOfAServerThatIsNotDeclaredAnyMore) {
  Server gone = shell_server("first");
  gone.enabled = false;
  gone.removed = true;
  const Config next = with({gone, seeing("second", "new")});
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              return in_order({rig.reload(next), sees(rig, 0), sees(rig, 1)});
            }),
            in_order({"reloaded", refused(disabled), "new"}));
}

TEST_F(Reload, CanBeDoneAgainAndAgain) {
  const Config next = with({seeing("first", "new")});
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              return in_order({rig.reload(next), sees(rig, 0), rig.reload(config_), sees(rig, 0),
                               rig.reload(next), sees(rig, 0)});
            }),
            "reloaded new reloaded old reloaded new");
}

// --- what is not taken ---------------------------------------------------------------------------

TEST_F(Reload, ChangesNothingWhenAPathOfANewServerIsMissing) {
  const Config next = with({seeing("first", "new"), seeing("second", "missing")});
  EXPECT_EQ(
      with_gateway([&](LauncherRig& rig) { return in_order({rig.reload(next), sees(rig, 0)}); }),
      not_reloaded(not_prepared, "server 1, ENOENT old"));
}

TEST_F(Reload, ChangesNothingWhenAServerCouldNotBeStartedAnyMore) {
  const Config broken = with({seeing("first", "missing")});
  const Config next = with({seeing("first", "new")});
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              return in_order({rig.reload(broken), sees(rig, 0), rig.reload(next), sees(rig, 0)});
            }),
            not_reloaded(not_prepared, "server 0, ENOENT old reloaded new"));
}

TEST_F(Reload, BearsAServerThatCouldNotBeStartedBefore) {
  config_.servers = {seeing("first", "missing"), seeing("second", "old")};
  const Config next = with({seeing("first", "missing"), seeing("second", "new")});
  EXPECT_EQ(
      with_gateway([&](LauncherRig& rig) { return in_order({rig.reload(next), sees(rig, 1)}); }),
      "reloaded new");
}

TEST_F(Reload, RefusesOtherIdsForCells) {
  Config next = with({seeing("first", "new")});
  ++next.identity.first_cell_id;
  EXPECT_EQ(
      with_gateway([&](LauncherRig& rig) { return in_order({rig.reload(next), sees(rig, 0)}); }),
      not_reloaded(identity, "server none, - old"));
}

TEST_F(Reload, RefusesSecretsThatAreNotThoseOfTheServers) {
  Config next = with({seeing("first", "new")});
  next.servers[0].secrets = {{.name = "TOKEN", .from = "/nowhere"}};
  EXPECT_EQ(
      with_gateway([&](LauncherRig& rig) { return in_order({rig.reload(next), sees(rig, 0)}); }),
      not_reloaded(unreadable, "server none, - old"));
}

// --- the launcher's own filter -------------------------------------------------------------------

Server may_trace(Server server) {
  server.syscalls.name = "tracing";
  server.syscalls.allow = {"ptrace"};
  return server;
}

// PTRACE_TRACEME: "0" where the call is made.
const std::string trace_me =
    "/usr/bin/python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0))'";

TEST_F(Reload, RefusesTheFirstServerThatMayTrace) {
  const Config next = with({may_trace(seeing("first", "new"))});
  EXPECT_EQ(
      with_gateway([&](LauncherRig& rig) { return in_order({rig.reload(next), sees(rig, 0)}); }),
      not_reloaded(calls, "server none, - old"));
}

TEST_F(Reload, TakesAServerThatMayTraceBesideOneThatMayWhenTheLauncherWasStarted) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
  config_.servers = {may_trace(seeing("first", "old"))};
  const Config next = with({may_trace(seeing("first", "old")), may_trace(seeing("second", "new"))});
  EXPECT_EQ(
      with_gateway([&](LauncherRig& rig) {
        return in_order({rig.in_cell(0, trace_me), rig.reload(next), rig.in_cell(1, trace_me)});
      }),
      "0 reloaded 0");
}

TEST_F(Reload, LetsNoServerTraceThatIsNotAllowedTo) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs python3";
  config_.servers = {may_trace(seeing("first", "old")), seeing("second", "old")};
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) { return rig.in_cell(1, trace_me); }), "-1");
}

// --- what a gateway may start --------------------------------------------------------------------

TEST_F(Reload, LetsAGatewayLiveThatAsksForWhatWasJustTakenFromIt) {
  config_.servers = {seeing("first", "old"), seeing("second", "new")};
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              rig.permit_only(servers({1}));
              return in_order({sees(rig, 0), sees(rig, 1)});
            }),
            in_order({refused(not_permitted), "new"}));
}

TEST_F(Reload, EndsAGatewayThatAsksForWhatItNeverMightStart) {
  config_.servers = {seeing("first", "old"), seeing("second", "old"), seeing("third", "old")};
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) -> std::string {
              rig.permit_only(servers({1}));
              rig.tell_gateway("demand 2");
              return rig.is_next(wire::LauncherReportKind::gateway_ended) ? "ended" : "not ended";
            }),
            "ended");
}

// --- the host, as it is then and never later -----------------------------------------------------

class HostChanges : public Reload {
 protected:
  void SetUp() override { NEEDS_ROOT_OUTSIDE(); }

  /// Mounted there after the launcher has started, with that file in it.
  std::string mount_late(LauncherRig& rig, const std::string& place,
                         const std::string& file) const {
    const std::string path = directory_.path(place);
    return in_order({rig.as_root("mount " + path), rig.as_root("write " + path + "/" + file)});
  }
};

TEST_F(HostChanges, AreSeenWhereAFileSystemWasMountedAfterTheStart) {
  const Config next = with({seeing("first", "late")});
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              return in_order({mount_late(rig, "late", "word"), rig.reload(next), sees(rig, 0)});
            }),
            "mounted written reloaded word");
}

TEST_F(HostChanges, AreSeenInWorkspaces) {
  Server server = shell_server("first");
  server.workspace = Workspace{.allow = {directory_.path("late") + "/**"}};
  config_.servers = {server};
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              const std::string mounted = mount_late(rig, "late", "project/word");
              const Fd project(::open(directory_.path("late/project").c_str(), O_PATH | O_CLOEXEC));
              const auto look = [&] { return rig.in_cell(0, read_workspace, project.get()); };
              return in_order({mounted, look(), rig.reload(config_), look()});
            }),
            in_order({"mounted written", refused(workspace_came_later), "reloaded word"}));
}

TEST_F(HostChanges, AreNotSeenOnceItIsOver) {
  directory_.make_directory("old/late");
  EXPECT_EQ(with_gateway([&](LauncherRig& rig) {
              return in_order({rig.reload(config_), mount_late(rig, "old/late", "word"),
                               rig.in_cell(0, "cat /data/late/word 2>/dev/null || echo nothing")});
            }),
            "reloaded mounted written nothing");
}

TEST_F(HostChanges, AreLookedAtWithNothingOfTheHostLeftWithinReach) {
  Server server = seeing("first", "old");
  server.workspace = Workspace{.allow = {directory_.path("new") + "/**"}};
  config_.servers = {server};
  const std::string looked = with_launcher(config_, [&](LauncherRig& rig) {
    const std::string before = rig.as_root("look");
    const std::string told = rig.reload(config_);
    const std::string after = rig.as_root("look");
    return told + (before == after ? ", as before\n" : ", not as before\n" + before) + after;
  });
  EXPECT_THAT(looked, HasSubstr("reloaded, as before\n"));
  EXPECT_THAT(looked, Not(HasSubstr("hears of the host's")));
  EXPECT_THAT(looked, Not(HasSubstr("open mnt:")));
  EXPECT_THAT(looked, Not(HasSubstr("open /\n")));
  EXPECT_THAT(looked, Not(HasSubstr("mount /host")));
  // All that there is: what cells are made from.
  EXPECT_THAT(looked, HasSubstr("mount /trees//workspaces/"));
  EXPECT_THAT(looked, ContainsRegex("sees cell proc state trees\n"));
}

TEST_F(HostChanges, LeaveNothingBehindAfterFiftyReloads) {
  const Config broken = with({seeing("first", "missing")});
  EXPECT_EQ(with_launcher(config_,
                          [&](LauncherRig& rig) -> std::string {
                            const std::string before = rig.as_root("look");
                            for (int i = 0; i < 25; ++i) {
                              const std::string told = rig.reload(config_);
                              if (told != "reloaded") return told;
                              if (rig.reload(broken) == "reloaded") return "a broken one";
                            }
                            const std::string after = rig.as_root("look");
                            return before == after ? "as before" : before + after;
                          }),
            "as before");
}

}  // namespace
}  // namespace cellblock::containment
