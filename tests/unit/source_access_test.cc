#include "policy/sandbox/source_access.h"

#include <gmock/gmock.h>

namespace cellblock {
namespace {

using testing::HasSubstr;

constexpr CellClient alice{1000, 1000};
constexpr CellClient bob{1001, 1001};
const Identity identity{.uid = 900, .gid = 900};

/// A directory as its mode bits have it.
SourceOwnership directory(std::uint32_t uid, std::uint32_t gid, std::uint32_t mode) {
  const auto rights = [mode](unsigned shift) {
    const unsigned bits = mode >> shift & 07U;
    return PathRights{.read = (bits & 5U) == 5, .write = (bits & 3U) == 3};
  };
  return {.known = true,
          .uid = uid,
          .gid = gid,
          .mode = mode,
          .owner = uid == 1000   ? "alice"
                   : uid == 1001 ? "bob"
                                 : "root",
          .of_owner = rights(6),
          .of_group = rights(3),
          .of_stranger = rights(0)};
}

Server with(const SourceOwnership& source, Access access, RunAs run_as = {}) {
  Server server;
  server.name = "files";
  server.run_as = std::move(run_as);
  server.binds = {{"/srv/project", "/data", access}};
  server.ownership = {source};
  return server;
}

Server owned_by_alice(Access access, std::uint32_t mode) {
  Server server = with(directory(1000, 1000, mode), access);
  server.owner_mounts = {{.bind = 0, .uid = 1000, .gid = 1000, .cell_id = 5000}};
  return server;
}

TEST(SourceAccess, IsWhatTheIdOnDiskMayDo) {
  const RunAs client{.kind = RunAsKind::client};
  const RunAs named{.kind = RunAsKind::named, .user = "bob", .uid = 1001, .gid = 1001};
  struct Row {
    const char* what;
    Server server;
    CellClient user;
    bool allowed;
  };
  const Row rows[] = {
      {"a stranger writes what others may write", with(directory(0, 0, 0777), Access::write), alice,
       true},
      {"a stranger does not write what its owner alone may",
       with(directory(1000, 1000, 0755), Access::write), alice, false},
      {"a stranger reads what others may read", with(directory(1000, 1000, 0755), Access::read),
       bob, true},
      {"a stranger reads nothing that is closed", with(directory(1000, 1000, 0700), Access::read),
       bob, false},
      {"an owner mount gives its client the owner's rights", owned_by_alice(Access::write, 0700),
       alice, true},
      {"an owner mount gives nobody else any", owned_by_alice(Access::write, 0700), bob, false},
      {"an owner mount gives no more than the owner has", owned_by_alice(Access::write, 0500),
       alice, false},
      {"a client writes its own", with(directory(1000, 1000, 0700), Access::write, client), alice,
       true},
      {"a client does not write another's",
       with(directory(1000, 1000, 0700), Access::write, client), bob, false},
      {"a client writes what its primary group may",
       with(directory(0, 1001, 0770), Access::write, client), bob, true},
      {"a named user writes its own, whoever connects",
       with(directory(1001, 1001, 0700), Access::write, named), alice, true},
      {"a named user does not write the client's",
       with(directory(1000, 1000, 0700), Access::write, named), alice, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(source_access(row.server, 0, row.user, identity).allowed, row.allowed) << row.what;
  }
}

TEST(SourceAccess, RootlessWithoutSubordinateIdsIsTheUserItself) {
  const Identity own{.uid = 1000, .gid = 1000, .first_cell_id = 1000, .cell_ids = 1};
  const Server server = with(directory(1000, 1000, 0700), Access::write);
  EXPECT_TRUE(source_access(server, 0, alice, own).allowed);
}

TEST(SourceAccess, NothingIsSaidOfWhatIsNotKnown) {
  Server server = with({}, Access::write);
  EXPECT_TRUE(source_access(server, 0, alice, identity).allowed);
  server.ownership.clear();
  EXPECT_TRUE(source_access(server, 0, alice, identity).allowed);
}

TEST(SourceAccess, ARefusalNamesPathOwnerModeAndRemedy) {
  const auto of_bob =
      source_access(with(directory(1001, 1001, 0755), Access::write), 0, alice, identity);
  EXPECT_EQ(of_bob.problem, "write /srv/project: no, it belongs to another user (bob, 0755)");
  EXPECT_THAT(of_bob.remedy, HasSubstr("directory of the user's own"));
  const auto of_root =
      source_access(with(directory(0, 0, 0755), Access::write), 0, alice, identity);
  EXPECT_EQ(of_root.problem, "write /srv/project: no, it belongs to the system (root, 0755)");
  EXPECT_THAT(of_root.remedy, HasSubstr("chown"));
  const auto own =
      source_access(with(directory(1000, 1000, 0755), Access::write), 0, alice, identity);
  EXPECT_THAT(own.remedy, HasSubstr("run_as = \"auto\""));
}

}  // namespace
}  // namespace cellblock
