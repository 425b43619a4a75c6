#include <gtest/gtest.h>

#include "supervisor/launcher/prepare/reload_compatibility.h"

namespace cellblock::launcher {
namespace {

using wire::ReloadRefusal;

Server named(const std::string& name) {
  Server server;
  server.name = name;
  return server;
}

Server running_as(std::uint32_t uid, std::uint32_t gid) {
  Server server = named("other");
  server.run_as = {.kind = RunAsKind::named, .user = "other", .uid = uid, .gid = gid};
  return server;
}

class ReloadCheck : public testing::Test {
 protected:
  ReloadCheck() {
    now_.identity = {.uid = 100, .gid = 100};
    now_.servers = {named("one"), named("two")};
    next_ = now_;
  }

  ReloadRefusal refusal() const { return refusal_of(start_facts(now_), now_, next_); }

  Config now_;
  Config next_;
};

TEST_F(ReloadCheck, TakesTheSameAgain) { EXPECT_EQ(refusal(), ReloadRefusal::none); }

TEST_F(ReloadCheck, TakesServersBehindThoseThatWereThere) {
  next_.servers.push_back(named("another"));
  EXPECT_EQ(refusal(), ReloadRefusal::none);
}

TEST_F(ReloadCheck, RefusesAServerAtAnothersPlace) {
  next_.servers = {named("another"), named("one"), named("two")};
  EXPECT_EQ(refusal(), ReloadRefusal::servers_moved);
  next_.servers = {named("one")};
  EXPECT_EQ(refusal(), ReloadRefusal::servers_moved);
}

TEST_F(ReloadCheck, RefusesWhatWasSettledWithTheStart) {
  next_.mode = RunMode::user;
  EXPECT_EQ(refusal(), ReloadRefusal::mode);
  next_ = now_;
  ++next_.identity.cell_ids;
  EXPECT_EQ(refusal(), ReloadRefusal::identity);
  next_ = now_;
  next_.state_directory = "/elsewhere";
  EXPECT_EQ(refusal(), ReloadRefusal::state_directory);
  next_ = now_;
  next_.cgroup.memory = true;
  EXPECT_EQ(refusal(), ReloadRefusal::cgroup);
  next_ = now_;
  next_.http.emplace();
  EXPECT_EQ(refusal(), ReloadRefusal::programs);
  next_ = now_;
  next_.metrics.emplace();
  EXPECT_EQ(refusal(), ReloadRefusal::programs);
}

TEST_F(ReloadCheck, RefusesACallThatNoServerHadWhenTheLauncherWasStarted) {
  next_.servers[0].syscalls.allow = {"setuid"};
  EXPECT_EQ(refusal(), ReloadRefusal::none);
  next_.servers[0].syscalls.allow = {"setuid", "ptrace"};
  EXPECT_EQ(refusal(), ReloadRefusal::calls);
  now_.servers[1].syscalls.allow = {"ptrace"};
  EXPECT_EQ(refusal(), ReloadRefusal::none);
}

TEST_F(ReloadCheck, DoesNotMindWordsForPeople) {
  next_.cgroup.missing_because = "another reason";
  EXPECT_EQ(refusal(), ReloadRefusal::none);
}

TEST_F(ReloadCheck, RefusesIdsThatTheLauncherWasNotGiven) {
  next_.servers.push_back(running_as(2'000, 100));
  EXPECT_EQ(refusal(), ReloadRefusal::ids_not_mapped);
  next_.servers.back() = running_as(100, 2'000);
  EXPECT_EQ(refusal(), ReloadRefusal::ids_not_mapped);
}

TEST_F(ReloadCheck, TakesIdsThatItWasGivenWhoeverHadThem) {
  now_.clients = {{2'000, 2'000}, {2'001, 2'001}, {2'002, 2'002}};
  next_.clients = {{2'000, 2'000}};
  next_.servers.push_back(running_as(2'002, 2'001));
  EXPECT_EQ(refusal(), ReloadRefusal::none);
}

}  // namespace
}  // namespace cellblock::launcher
