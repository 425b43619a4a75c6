#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "supervisor/loader/identity/id_mapped_tree.h"
#include "supervisor/loader/load/source_facts.h"
#include "supervisor/loader/start/owner_mounts.h"
#include "supervisor/process/privileges.h"
#include "tests/unit/unanswering_file.h"

/// Asked of this kernel, as root: the owners are ids that no account has.
namespace cellblock::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t alice = 64'201;
constexpr std::uint32_t bob = 64'202;
constexpr std::uint32_t cell_id = 1'879'048'300;

class SourceFactsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: it becomes other users";
    std::string place = "/var/tmp/cellblock-source.XXXXXX";
    ASSERT_NE(::mkdtemp(place.data()), nullptr);
    place_ = place;
    ASSERT_EQ(::chmod(place_.c_str(), 0755), 0);
  }
  void TearDown() override {
    if (!place_.empty()) std::filesystem::remove_all(place_);
  }

  std::string make(const std::string& name, std::uint32_t owner, mode_t mode) const {
    std::string path = place_ + "/" + name;
    EXPECT_EQ(::mkdir(path.c_str(), 0700), 0);
    EXPECT_EQ(::chown(path.c_str(), owner, owner), 0);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static SourceFacts look_at(const std::string& path) {
    return look_at_sources({path}, {.id = cell_id}, {}).at(path);
  }

  std::string place_;
};

TEST_F(SourceFactsTest, RightsAreThoseThatTheKernelGives) {
  struct Row {
    mode_t mode;
    PathRights owner, group, stranger;
  };
  const Row rows[] = {
      {0700, {true, true}, {}, {}},
      {0755, {true, true}, {true, false}, {true, false}},
      {0777, {true, true}, {true, true}, {true, true}},
      {0570, {true, false}, {true, true}, {}},
      {0766, {true, true}, {}, {}},  // no way in without search
  };
  for (const Row& row : rows) {
    const std::string path = make(std::to_string(row.mode), alice, row.mode);
    const SourceOwnership found = look_at(path).ownership;
    EXPECT_TRUE(found.known);
    EXPECT_EQ(found.uid, alice);
    EXPECT_EQ(found.owner, std::to_string(alice));
    EXPECT_EQ(found.of_owner, row.owner) << std::oct << row.mode;
    EXPECT_EQ(found.of_group, row.group) << std::oct << row.mode;
    EXPECT_EQ(found.of_stranger, row.stranger) << std::oct << row.mode;
  }
}

TEST_F(SourceFactsTest, WhatIsNotThereIsMissing) {
  EXPECT_EQ(look_at(place_ + "/nothing").kind, PathKind::missing);
}

TEST_F(SourceFactsTest, LinksAreFollowedToWhereTheyLead) {
  const std::string path = make("real", alice, 0700);
  ASSERT_EQ(::symlink(path.c_str(), (place_ + "/link").c_str()), 0);
  EXPECT_EQ(look_at(place_ + "/link").resolved, path);
}

TEST_F(SourceFactsTest, APathThatDoesNotAnswerIsGivenUpAndTheOthersAreLookedAt) {
  const std::string silent = make("b", 0, 0755);
  const std::string before = make("a", alice, 0700);
  const std::string after = make("c", alice, 0700);
  const UnansweringFile mount(silent, UnansweringFile::Withholds::everything);
  if (!mount.usable()) GTEST_SKIP() << "no FUSE file system can be mounted here";
  const auto facts =
      look_at_sources({before, silent, silent + "/below", after}, {.id = cell_id}, {});
  EXPECT_TRUE(facts.at(silent + "/below").is_unanswered);
  EXPECT_EQ(facts.at(silent + "/below").kind, PathKind::missing);
  EXPECT_NE(facts.at(silent + "/below").others, "") << "so it breaks its server alone";
  EXPECT_FALSE(facts.at(before).is_unanswered);
  EXPECT_EQ(facts.at(before).ownership.uid, alice);
  EXPECT_EQ(facts.at(after).ownership.uid, alice);
  EXPECT_EQ(facts.at(after).resolved, after);
}

TEST_F(SourceFactsTest, WhoeverReadsWhatThisProcessSaysDoesNotWaitForAPathThatDoesNotAnswer) {
  const std::string silent = make("silent", 0, 0755);
  const UnansweringFile mount(silent, UnansweringFile::Withholds::everything);
  if (!mount.usable()) GTEST_SKIP() << "no FUSE file system can be mounted here";
  Pair pipe = *make_pipe();
  const Fd before(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10));
  ASSERT_EQ(::dup2(pipe.second.get(), STDOUT_FILENO), STDOUT_FILENO);
  pipe.second.reset();
  const SourceFacts facts = look_at(silent + "/below");
  ASSERT_EQ(::dup2(before.get(), STDOUT_FILENO), STDOUT_FILENO);
  EXPECT_TRUE(facts.is_unanswered);
  pollfd end{pipe.first.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, 0), 1) << "the child that waits still has the pipe";
}

// In a child for which a closed directory is closed: with CAP_SETUID and CAP_SETGID alone.
bool opens_without_root(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_daemon = become_daemon_user({bob, bob, {}}).has_value();
    ::_exit(is_daemon && open_source(path, Links::refuse) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

TEST_F(SourceFactsTest, AClosedDirectoryIsPassedAsItsOwner) {
  make("home", alice, 0700);
  EXPECT_TRUE(opens_without_root(make("home/project", alice, 0700)));
}

TEST_F(SourceFactsTest, AClosedDirectoryOfTheSystemsStaysClosed) {
  make("home", 0, 0700);
  EXPECT_FALSE(opens_without_root(make("home/project", alice, 0777)));
}

class IdMappedTreeTest : public SourceFactsTest {
 protected:
  void SetUp() override {
    SourceFactsTest::SetUp();
    if (place_.empty()) return;
    const auto source = open_source(place_, Links::follow);
    ASSERT_TRUE(source);
    const auto tree = id_mapped_tree(source->get(), {0, 0, cell_id});
    if (!tree) GTEST_SKIP() << "no ID-mapped mounts of " << place_ << ": " << tree.error().text;
  }

  Fd mapped(const std::string& path) const {
    const auto source = open_source(path, Links::refuse);
    auto tree = id_mapped_tree(source->get(), {alice, alice, cell_id});
    EXPECT_TRUE(tree) << tree.error().text;
    return tree ? std::move(*tree) : Fd();
  }
  /// Opens in the tree as the cell; errno, or 0.
  static int as_cell(const Fd& tree, const char* name, int flags) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setresgid(cell_id, cell_id, cell_id) < 0 ||
          ::setresuid(cell_id, cell_id, cell_id) < 0) {
        ::_exit(255);
      }
      const int file = ::openat(tree.get(), name, flags, 0644);
      ::_exit(file < 0 ? errno : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
};

TEST_F(IdMappedTreeTest, TheCellIsTheOwnerInItAndTheOwnerKeepsTheFiles) {
  const std::string path = make("project", alice, 0700);
  const Fd tree = mapped(path);
  EXPECT_EQ(as_cell(tree, "made", O_CREAT | O_WRONLY), 0);
  struct stat status{};
  ASSERT_EQ(::stat((path + "/made").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, alice);
  EXPECT_EQ(status.st_gid, alice);
}

TEST_F(IdMappedTreeTest, OutsideOfItTheSameIdIsAStranger) {
  const std::string path = make("project", alice, 0700);
  const Fd plain(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(as_cell(plain, "made", O_CREAT | O_WRONLY), EACCES);
}

TEST_F(IdMappedTreeTest, ThirdUsersFilesAreNotChangedWhateverTheirMode) {
  const std::string path = make("project", alice, 0700);
  std::ofstream(path + "/of_bob") << "bob's";
  ASSERT_EQ(::chown((path + "/of_bob").c_str(), bob, bob), 0);
  ASSERT_EQ(::chmod((path + "/of_bob").c_str(), 0666), 0);
  const Fd tree = mapped(path);
  EXPECT_EQ(as_cell(tree, "of_bob", O_RDONLY), 0);
  EXPECT_EQ(as_cell(tree, "of_bob", O_WRONLY), EACCES);
}

TEST_F(IdMappedTreeTest, WhatIsMadeInADirectoryOfAGroupBelongsToTheGroup) {
  const std::string path = make("shared", alice, 0700);
  ASSERT_EQ(::chown(path.c_str(), alice, bob), 0);
  ASSERT_EQ(::chmod(path.c_str(), 02770), 0);
  EXPECT_EQ(as_cell(mapped(path), "made", O_CREAT | O_WRONLY), 0);
  struct stat status{};
  ASSERT_EQ(::stat((path + "/made").c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, bob);
}

TEST_F(IdMappedTreeTest, AFileAloneIsMappedToo) {
  const std::string path = make("project", alice, 0700) + "/notes";
  std::ofstream(path) << "hers";
  ASSERT_EQ(::chown(path.c_str(), alice, alice), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(look_at(path).id_mapping, IdMapping::possible);
}

TEST_F(IdMappedTreeTest, FilesOfAGroupThatIsNotTheSourcesAreNotTheCells) {
  const std::string path = make("project", alice, 0700);
  std::ofstream(path + "/of_group") << "the group's";
  ASSERT_EQ(::chown((path + "/of_group").c_str(), bob, 0), 0);
  ASSERT_EQ(::chmod((path + "/of_group").c_str(), 0660), 0);
  EXPECT_EQ(as_cell(mapped(path), "of_group", O_RDONLY), EACCES);
}

// In a mount namespace in which every mount is shared, as systemd has it.
int mounts_reach_the_copy(const std::string& path, const std::string& seen_at) {
  if (::unshare(CLONE_NEWNS) < 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0 ||
      ::mount("", "/", nullptr, MS_REC | MS_SHARED, nullptr) < 0) {
    return 2;
  }
  const auto source = open_source(path, Links::refuse);
  const auto tree = id_mapped_tree(source->get(), {alice, alice, cell_id});
  if (!tree || ::syscall(SYS_move_mount, tree->get(), "", AT_FDCWD, seen_at.c_str(),
                         MOVE_MOUNT_F_EMPTY_PATH) < 0) {
    return 3;
  }
  if (::mount("tmpfs", (path + "/disk").c_str(), "tmpfs", 0, nullptr) < 0) return 4;
  struct stat there{};
  struct stat here{};
  if (::stat((path + "/disk").c_str(), &there) < 0) return 5;
  if (::stat((seen_at + "/disk").c_str(), &here) < 0) return 6;
  return there.st_dev == here.st_dev ? 1 : 0;
}

TEST_F(IdMappedTreeTest, WhatTheHostMountsBelowTheSourceIsNotMountedInIt) {
  const std::string path = make("project", alice, 0700);
  make("project/disk", alice, 0700);
  const std::string seen_at = make("seen", 0, 0755);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(mounts_reach_the_copy(path, seen_at));
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "step " << WEXITSTATUS(status);
}

TEST_F(IdMappedTreeTest, NoSymbolicLinkLeadsToWhatIsMapped) {
  const std::string path = make("project", alice, 0700);
  ASSERT_EQ(::symlink(place_.c_str(), (place_ + "/way").c_str()), 0);
  const std::string by_link = place_ + "/way/project";
  EXPECT_EQ(look_at(path).id_mapping, IdMapping::possible);
  EXPECT_EQ(look_at(by_link).id_mapping, IdMapping::impossible);
  Config config;
  config.servers.resize(1);
  config.servers[0].binds = {{by_link, "/data", Access::write}};
  config.servers[0].owner_mounts = {{.uid = alice, .gid = alice, .cell_id = cell_id}};
  EXPECT_THAT(make_owner_mounts(config).at(0).problem, HasSubstr("symbolic links"));
}

TEST_F(IdMappedTreeTest, AnOwnerThatChangedMeanwhileIsNotMapped) {
  const std::string path = make("project", bob, 0700);
  Config config;
  config.servers.resize(1);
  config.servers[0].name = "files";
  config.servers[0].binds = {{path, "/data", Access::write}};
  config.servers[0].owner_mounts = {{.uid = alice, .gid = alice, .cell_id = cell_id}};
  const auto made = make_owner_mounts(config);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_FALSE(made[0].tree.valid());
  EXPECT_THAT(made[0].problem, HasSubstr("another owner now"));
}

TEST_F(SourceFactsTest, IdsOfOwnerMountsAreThoseOfTheListOrTheNext) {
  std::ofstream(place_ + "/ids") << "files " << alice << " 1879048200\nother 7 1879048201\nhalf";
  Config config;
  config.state_directory = place_;
  config.servers.resize(1);
  config.servers[0].name = "files";
  config.servers[0].owner_mounts = {{.uid = alice}, {.bind = 1, .uid = alice}, {.uid = bob}};
  ASSERT_TRUE(assign_owner_ids(config));
  std::vector<std::uint32_t> ids;
  for (const OwnerMount& mount : config.servers[0].owner_mounts) ids.push_back(mount.cell_id);
  EXPECT_THAT(ids, ElementsAre(1'879'048'200, 1'879'048'200, 1'879'048'202));
}

TEST_F(SourceFactsTest, AListOfIdsThatMakesNoSenseGivesNone) {
  std::ofstream(place_ + "/ids") << "nonsense\n";
  Config config;
  config.state_directory = place_;
  config.servers.resize(1);
  config.servers[0].owner_mounts = {{.uid = alice}};
  EXPECT_FALSE(assign_owner_ids(config));
}

}  // namespace
}  // namespace cellblock::daemon

// A user namespace is made by a process of this same program.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == cellblock::daemon::hold_user_namespace_option) {
    return cellblock::daemon::hold_user_namespace();
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
