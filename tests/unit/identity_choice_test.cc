#include <gmock/gmock.h>

#include "policy/config_check/run_as_check.h"

namespace cellblock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Identity identity{.uid = 900, .gid = 900};

SourceOwnership owned(std::uint32_t uid, PathRights of_stranger) {
  return {.known = true,
          .uid = uid,
          .gid = uid,
          .mode = 0700,
          .owner = std::to_string(uid),
          .of_owner = {true, true},
          .of_group = of_stranger,
          .of_stranger = of_stranger};
}

class IdentityChoiceTest : public testing::Test {
 protected:
  void declare(const std::string& path, Access access, const SourceOwnership& ownership,
               IdMapping mapping = IdMapping::possible) {
    server_.binds.push_back({path, path, access});
    server_.ownership.push_back(ownership);
    facts_.sources[path] = {.kind = PathKind::directory,
                            .resolved = path,
                            .ownership = ownership,
                            .id_mapping = mapping,
                            .no_id_mapping = "no such kernel"};
  }
  IdentityChoice choose(RunMode mode = RunMode::system, std::size_t room = max_owner_mounts) const {
    const Identity own = mode == RunMode::user ? Identity{.uid = 1000, .gid = 1000} : identity;
    return choose_identity(server_, people_, mode, own, facts_, room);
  }

  Server server_;
  HostFacts facts_;
  AllowedPeople people_{.here = {{1000, 1000}, {1001, 100}}};
};

TEST_F(IdentityChoiceTest, APathOfAUsersIsMountedForThatUserAlone) {
  declare("/home/alice/p", Access::write, owned(1000, {}));
  declare("/home/bob/p", Access::read, owned(1001, {}));
  const auto choice = choose();
  EXPECT_EQ(choice.run_as.kind, RunAsKind::own);
  EXPECT_THAT(choice.mounts, ElementsAre(OwnerMount{.bind = 0, .uid = 1000, .gid = 1000},
                                         OwnerMount{.bind = 1, .uid = 1001, .gid = 100}));
}

TEST_F(IdentityChoiceTest, APathThatOthersMayUseIsMountedForItsOwnerToo) {
  declare("/home/alice/p", Access::read, owned(1000, {true, true}));
  EXPECT_EQ(choose().mounts.size(), 1U);
}

TEST_F(IdentityChoiceTest, NobodysPathThatIsNoUserOfTheServerIsMounted) {
  declare("/srv/root", Access::read, owned(0, {true, false}));
  declare("/home/carol", Access::write, owned(1002, {}));
  people_.here.push_back({0, 0});  // root may use it, and is nobody's id on disk
  const auto choice = choose();
  EXPECT_EQ(choice.run_as.kind, RunAsKind::own);
  EXPECT_THAT(choice.mounts, IsEmpty());
}

TEST_F(IdentityChoiceTest, WhoseGroupIsNotKnownIsNoOwner) {
  people_.here = {{7000, std::nullopt}};
  declare("/srv/p", Access::write, owned(7000, {}));
  EXPECT_THAT(choose().mounts, IsEmpty());
  people_.here = {{7000, 7000}};  // nobody's group: people_of()
  EXPECT_THAT(choose().mounts, ElementsAre(OwnerMount{.bind = 0, .uid = 7000, .gid = 7000}));
}

TEST_F(IdentityChoiceTest, WhereNoMountCanBeHadTheClientIsTakenIfThePathNeedsItsOwner) {
  people_.here.resize(1);
  declare("/home/alice/p", Access::write, owned(1000, {true, false}), IdMapping::impossible);
  const auto choice = choose();
  EXPECT_EQ(choice.run_as.kind, RunAsKind::client);
  EXPECT_THAT(choice.run_as.reason, HasSubstr("write /home/alice/p needs its owner"));
  EXPECT_THAT(choice.run_as.reason, HasSubstr("no such kernel"));
  EXPECT_THAT(choice.mounts, IsEmpty());
}

TEST_F(IdentityChoiceTest, NobodyIsAloneWhileARuleNamesSomebodyWhoIsUnknown) {
  people_ = {.here = {{1000, 1000}}, .are_some_unknown = true};
  declare("/home/alice/p", Access::write, owned(1000, {true, false}), IdMapping::impossible);
  EXPECT_EQ(choose().run_as.kind, RunAsKind::own);
}

TEST_F(IdentityChoiceTest, WhatOneUsersFileSystemLacksChangesNothingForTheOthers) {
  declare("/home/alice/p", Access::write, owned(1000, {}), IdMapping::impossible);
  declare("/home/bob/p", Access::write, owned(1001, {}));
  const auto choice = choose();
  EXPECT_EQ(choice.run_as.kind, RunAsKind::own);
  EXPECT_THAT(choice.mounts, ElementsAre(OwnerMount{.bind = 1, .uid = 1001, .gid = 100}));
}

TEST_F(IdentityChoiceTest, WhereNoMountCanBeHadADedicatedIdStaysIfOthersMayUseThePath) {
  declare("/home/alice/p", Access::read, owned(1000, {true, false}), IdMapping::impossible);
  EXPECT_EQ(choose().run_as.kind, RunAsKind::own);
}

TEST_F(IdentityChoiceTest, MoreMountsThanThereIsRoomForAreNone) {
  declare("/home/alice/p", Access::write, owned(1000, {}));
  declare("/home/bob/p", Access::write, owned(1001, {}));
  EXPECT_EQ(choose(RunMode::system, 2).run_as.kind, RunAsKind::own);
  EXPECT_EQ(choose(RunMode::system, 1).run_as.kind, RunAsKind::own) << "nor the client of others";
  EXPECT_THAT(choose(RunMode::system, 1).mounts, IsEmpty());
  people_.here.resize(1);
  EXPECT_EQ(choose(RunMode::system, 0).run_as.kind, RunAsKind::client);
}

TEST_F(IdentityChoiceTest, AWorkspaceIsTheClients) {
  server_.workspace = Workspace{.allow = {"/home/*/src"}};
  for (const RunMode mode : {RunMode::system, RunMode::user}) {
    EXPECT_EQ(choose(mode).run_as.kind, RunAsKind::client);
  }
}

TEST_F(IdentityChoiceTest, RootlessItIsTheUserWhereAPathNeedsItsOwner) {
  declare("/srv/shared", Access::write, owned(0, {true, true}));
  EXPECT_EQ(choose(RunMode::user).run_as.kind, RunAsKind::own);
  declare("/home/alice/p", Access::write, owned(1000, {true, false}));
  EXPECT_EQ(choose(RunMode::user).run_as.kind, RunAsKind::client);
}

TEST_F(IdentityChoiceTest, RootlessAnothersPathIsNoReasonToBeTheUser) {
  declare("/home/bob/p", Access::write, owned(1001, {}));
  EXPECT_EQ(choose(RunMode::user).run_as.kind, RunAsKind::own);
}

}  // namespace
}  // namespace cellblock
