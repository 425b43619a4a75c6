#include "supervisor/launcher/prepare/cell_identity.h"

#include <gtest/gtest.h>

namespace cellblock::launcher {
namespace {

const std::vector<ClientId> clients = {{0, 0}, {1000, 100}, {1002, 0}, {1005, 1005}};
const RunAs as_client = {.kind = RunAsKind::client};

TEST(CellIdentity, OfAClientIsHisOwn) {
  EXPECT_EQ(declared_identity(as_client, 1000, clients), (HostIds{1000, 100}));
  EXPECT_EQ(declared_identity(as_client, 1005, clients), (HostIds{1005, 1005}));
}

TEST(CellIdentity, OfAClientWhoIsNotMappedIsNone) {
  for (const std::uint32_t user : {1U, 999U, 1001U, 1006U}) {
    EXPECT_EQ(declared_identity(as_client, user, clients), std::nullopt) << user;
  }
  EXPECT_EQ(declared_identity(as_client, 1000, {}), std::nullopt);
}

TEST(CellIdentity, IsNeverRootNorItsGroup) {
  EXPECT_EQ(declared_identity(as_client, 0, clients), std::nullopt);
  EXPECT_EQ(declared_identity(as_client, 1002, clients), std::nullopt);
  EXPECT_EQ(declared_identity({.kind = RunAsKind::named, .uid = 0, .gid = 5}, 1000, clients),
            std::nullopt);
  EXPECT_EQ(declared_identity({.kind = RunAsKind::named, .uid = 5, .gid = 0}, 1000, clients),
            std::nullopt);
}

TEST(CellIdentity, OfANamedUserIsTheSameForAll) {
  const RunAs named = {.kind = RunAsKind::named, .uid = 33, .gid = 34};
  EXPECT_EQ(declared_identity(named, 1000, clients), (HostIds{33, 34}));
  EXPECT_EQ(declared_identity(named, 7, {}), (HostIds{33, 34}));
}

}  // namespace
}  // namespace cellblock::launcher
