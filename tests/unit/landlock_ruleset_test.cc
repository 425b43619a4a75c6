#include "supervisor/launcher/child/landlock_ruleset.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace cellblock::launcher {
namespace {

using namespace landlock;

const HostLayout merged_usr = {.system_directories = {{"usr", std::nullopt}, {"bin", "usr/bin"}},
                               .etc_directories = {"/etc/ssl/certs"},
                               .loader_cache = "",
                               .local_time = "",
                               .resolver = ""};

constexpr std::uint32_t newest = 11;

LandlockRuleset ruleset_of(const Server& server, std::uint32_t abi = newest) {
  return landlock_ruleset(abi, server, plan_root(server, merged_usr));
}

/// What rules give to `path`, on the way from there to the root.
std::uint64_t access_to(const LandlockRuleset& ruleset, const std::string& path) {
  std::uint64_t access = 0;
  for (const LandlockPathRule& rule : ruleset.paths) {
    const bool above = rule.path == "/" || path == rule.path || path.starts_with(rule.path + "/");
    if (above) access |= rule.access;
  }
  return access;
}

std::uint64_t access_to_port(const LandlockRuleset& ruleset, std::uint16_t port) {
  for (const LandlockPortRule& rule : ruleset.ports) {
    if (rule.port == port) return rule.access;
  }
  return 0;
}

Server with_network(NetworkMode mode) {
  Server server;
  server.network = mode;
  server.egress.allow = {{.host = "example.org", .port = 443}, {.host = "b", .port = 5432}};
  server.egress.proxy_port = 3128;
  return server;
}

// --- every ABI -----------------------------------------------------------------------------------

struct AbiRow {
  std::uint32_t abi;
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scopes;
};

constexpr std::uint64_t files_1 = (1ULL << 13) - 1;
constexpr std::uint64_t files_2 = (1ULL << 14) - 1;
constexpr std::uint64_t files_3 = (1ULL << 15) - 1;
constexpr std::uint64_t files_5 = (1ULL << 16) - 1;
constexpr std::uint64_t files_9 = (1ULL << 17) - 1;

constexpr AbiRow abi_rows[] = {
    {0, 0, 0, 0},          {1, files_1, 0, 0}, {2, files_2, 0, 0},    {3, files_3, 0, 0},
    {4, files_3, 3, 0},    {5, files_5, 3, 0}, {6, files_5, 3, 3},    {7, files_5, 3, 3},
    {8, files_5, 3, 3},    {9, files_9, 3, 3}, {10, files_9, 0xf, 3}, {11, files_9, 0xf, 3},
    {99, files_9, 0xf, 3},
};

TEST(LandlockRuleset, HandlesAllThatEachAbiKnowsAndNothingMore) {
  for (const AbiRow& row : abi_rows) {
    const LandlockRuleset ruleset = ruleset_of({}, row.abi);
    EXPECT_EQ(ruleset.files, row.files) << row.abi;
    EXPECT_EQ(ruleset.network, row.network) << row.abi;
    EXPECT_EQ(ruleset.scopes, row.scopes) << row.abi;
  }
}

// The kernel answers such a rule with EINVAL, and the cell would not start.
TEST(LandlockRuleset, GivesNoRightThatIsNotHandledAndNoRuleWithoutRights) {
  for (const AbiRow& row : abi_rows) {
    const LandlockRuleset ruleset = ruleset_of(with_network(NetworkMode::egress), row.abi);
    for (const LandlockPathRule& rule : ruleset.paths) {
      EXPECT_EQ(rule.access & ~ruleset.files, 0U) << row.abi << " " << rule.path;
      EXPECT_NE(rule.access, 0U) << row.abi << " " << rule.path;
    }
    for (const LandlockPortRule& rule : ruleset.ports) {
      EXPECT_EQ(rule.access & ~ruleset.network, 0U) << row.abi << " " << rule.port;
      EXPECT_NE(rule.access, 0U) << row.abi << " " << rule.port;
    }
  }
}

TEST(LandlockRuleset, IsEmptyWhereTheKernelHasNone) {
  EXPECT_EQ(ruleset_of(with_network(NetworkMode::egress), 0), LandlockRuleset{});
  EXPECT_EQ(own_landlock_ruleset(0, plan_root({}, merged_usr)), LandlockRuleset{});
}

// --- files ---------------------------------------------------------------------------------------

constexpr std::uint64_t read_only = read_file | read_directory;
constexpr std::uint64_t writable = read_only | write_file | truncate | remove_directory |
                                   remove_file | make_directory | make_file | make_fifo |
                                   make_link | refer;

TEST(LandlockRuleset, GivesEachKindOfPlaceWhatItIsFor) {
  Server server;
  server.binds = {{"/srv/a", "/data/read", Access::read}, {"/srv/b", "/data/write", Access::write}};
  const LandlockRuleset ruleset = ruleset_of(server);
  EXPECT_EQ(access_to(ruleset, "/"), read_only);
  EXPECT_EQ(access_to(ruleset, "/etc/passwd"), read_only);
  EXPECT_EQ(access_to(ruleset, "/etc/ssl/certs/x"), read_only);
  EXPECT_EQ(access_to(ruleset, "/proc/self/status"), read_only);
  EXPECT_EQ(access_to(ruleset, "/run/secrets/TOKEN"), read_only);
  EXPECT_EQ(access_to(ruleset, "/usr/bin/true"), read_only | execute);
  EXPECT_EQ(access_to(ruleset, "/data/read/x"), read_only | execute);
  EXPECT_EQ(access_to(ruleset, "/data/write/x"), writable);
  EXPECT_EQ(access_to(ruleset, "/home/mcp/x"), writable);
  EXPECT_EQ(access_to(ruleset, "/tmp/x"), writable | make_socket);
  EXPECT_EQ(access_to(ruleset, "/dev/shm/x"), writable | make_socket);
  EXPECT_EQ(access_to(ruleset, "/dev/null") & of_files, read_file | write_file | ioctl_device);
}

TEST(LandlockRuleset, LetsABrowserConnectToSocketsInItsOwnPlacesOnly) {
  Server server;
  server.syscalls.base = SyscallProfile::browser;
  server.binds = {{"/srv", "/data", Access::write}, {"/opt/mcp", "/opt/mcp", Access::read}};
  server.workspace = Workspace{.allow = {"/home/*/src"}, .access = Access::write};
  constexpr std::uint32_t keeps_paths = 9;
  const LandlockRuleset ruleset = ruleset_of(server, keeps_paths);
  EXPECT_NE(ruleset.files & resolve_unix, 0U);
  for (const LandlockPathRule& rule : ruleset.paths) {
    const bool is_own = rule.path == "/tmp" || rule.path == "/home/mcp";
    EXPECT_EQ((rule.access & resolve_unix) != 0, is_own) << rule.path;
  }
}

TEST(LandlockRuleset, LetsNoOtherMakeADeviceOrConnectToASocketInTheFileSystem) {
  Server server;
  server.binds = {{"/srv", "/data", Access::write}};
  server.execute_writable = true;
  for (const LandlockPathRule& rule : ruleset_of(server).paths) {
    EXPECT_EQ(rule.access & (make_character_device | make_block_device | resolve_unix), 0U)
        << rule.path;
  }
}

TEST(LandlockRuleset, LetsNoWrittenFileRunUnlessThatIsDeclared) {
  Server server;
  server.binds = {{"/srv", "/data", Access::write}};
  server.workspace = Workspace{.allow = {"/home/*/src"}, .access = Access::write};
  for (const Server& each : {server, [&] {
                               Server weaker = server;
                               weaker.execute_writable = true;
                               return weaker;
                             }()}) {
    const LandlockRuleset ruleset = ruleset_of(each);
    for (const char* path : {"/data", "/home/mcp", "/workspace"}) {
      EXPECT_EQ((access_to(ruleset, path) & execute) != 0, each.execute_writable) << path;
      EXPECT_NE(access_to(ruleset, path) & write_file, 0U) << path;
    }
    EXPECT_EQ(access_to(ruleset, "/tmp") & execute, 0U);
  }
}

TEST(LandlockRuleset, LetsAWorkspaceThatIsToBeReadBeReadOnly) {
  Server server;
  server.workspace = Workspace{.allow = {"/home/*/src"}, .access = Access::read};
  EXPECT_EQ(access_to(ruleset_of(server), "/workspace"), read_only);
}

// --- network -------------------------------------------------------------------------------------

TEST(LandlockRuleset, PermitsWithoutANetworkOnlyToAskTheResolverAndNothingOverTcp) {
  const LandlockRuleset ruleset = ruleset_of(with_network(NetworkMode::none));
  EXPECT_EQ(ruleset.network, 0xfU);
  EXPECT_EQ(access_to_port(ruleset, 53), connect_send_udp);
  EXPECT_EQ(access_to_port(ruleset, 0), bind_udp);
  EXPECT_EQ(ruleset.ports.size(), 2U);
  EXPECT_TRUE(ruleset_of(with_network(NetworkMode::none), 7).ports.empty());
}

TEST(LandlockRuleset, PermitsWithEgressOnlyToConnectToItsPortsAndToAskTheResolver) {
  const LandlockRuleset ruleset = ruleset_of(with_network(NetworkMode::egress));
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{443, 5432, 3128}) {
    EXPECT_EQ(access_to_port(ruleset, port), connect_tcp) << port;
  }
  EXPECT_EQ(access_to_port(ruleset, 53), connect_tcp | connect_send_udp);
  EXPECT_EQ(access_to_port(ruleset, 0), bind_udp);
  EXPECT_EQ(ruleset.ports.size(), 5U);
}

TEST(LandlockRuleset, LeavesPortsAloneWhereTheNetworkIsOpenByDeclaration) {
  for (const NetworkMode mode : {NetworkMode::loopback, NetworkMode::host}) {
    const LandlockRuleset ruleset = ruleset_of(with_network(mode));
    EXPECT_EQ(ruleset.network, 0U);
    EXPECT_TRUE(ruleset.ports.empty());
    EXPECT_NE(ruleset.scopes, 0U);
  }
}

// --- cellblock's own -----------------------------------------------------------------------------

TEST(OwnLandlockRuleset, LetsOurProgramsReadWhatTheyAreLinkedWithAndWriteNowhere) {
  const LandlockRuleset ruleset = own_landlock_ruleset(newest, plan_root({}, merged_usr));
  EXPECT_EQ(access_to(ruleset, "/usr/lib/libc.so.6"), read_only | execute);
  EXPECT_EQ(access_to(ruleset, "/etc/ld.so.cache"), read_only);
  for (const char* path : {"/", "/tmp", "/dev/shm", "/home/mcp", "/proc", "/dev/null"}) {
    EXPECT_EQ(access_to(ruleset, path), 0U) << path;
  }
  EXPECT_TRUE(ruleset.ports.empty());
  EXPECT_EQ(ruleset.network, 0xfU);
}

TEST(OwnLandlockRuleset, PermitsAnswersToDatagramsFromAnyPort) {
  LandlockRuleset ruleset = own_landlock_ruleset(newest, plan_root({}, merged_usr));
  permit_answers(ruleset);
  EXPECT_EQ(ruleset.network, 0xfU & ~connect_send_udp);
  EXPECT_TRUE(ruleset.ports.empty());
}

TEST(OwnLandlockRuleset, GivesACacheFilesAndNothingElse) {
  LandlockRuleset ruleset = own_landlock_ruleset(newest, plan_root({}, merged_usr));
  permit_cache(ruleset);
  EXPECT_EQ(access_to(ruleset, "/home/mcp"), read_only | write_file | make_file | remove_file);
  for (const char* path : {"/", "/tmp", "/dev/shm", "/home", "/proc", "/dev/null"}) {
    EXPECT_EQ(access_to(ruleset, path), 0U) << path;
  }
  LandlockRuleset none = own_landlock_ruleset(0, plan_root({}, merged_usr));
  permit_cache(none);
  EXPECT_EQ(none, LandlockRuleset{});
}

}  // namespace
}  // namespace cellblock::launcher
