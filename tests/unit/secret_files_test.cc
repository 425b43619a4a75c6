#include "supervisor/loader/load/secret_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "tests/unit/scratch_directory.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<std::string> read(const std::string& path) {
  const std::array<uid_t, 2> owners = {0, ::geteuid()};
  return read_secret_file(path, owners);
}

TEST(SecretFiles, ReadsTheContentWithoutOneNewline) {
  const ScratchDirectory scratch;
  EXPECT_EQ(read(scratch.write("a", "token\n", 0600)), "token");
  EXPECT_EQ(read(scratch.write("b", "token\n\n", 0400)), "token\n");
  EXPECT_EQ(read(scratch.write("c", "", 0600)), "");
}

TEST(SecretFiles, RefusesAFileThatOthersCanRead) {
  const ScratchDirectory scratch;
  for (const mode_t mode : {0604, 0644, 0660, 0620, 0601}) {
    const auto secret = read(scratch.write("a", "hidden", mode));
    ASSERT_FALSE(secret.has_value()) << std::oct << mode;
    EXPECT_THAT(secret.error().text, Not(HasSubstr("hidden")));
  }
}

TEST(SecretFiles, RefusesASymbolicLink) {
  const ScratchDirectory scratch;
  const std::string target = scratch.write("a", "x", 0600);
  const std::string link = scratch.path() + "/link";
  ASSERT_EQ(::symlink(target.c_str(), link.c_str()), 0);
  ASSERT_FALSE(read(link).has_value());
  EXPECT_THAT(read(link).error().text, HasSubstr("symbolic link"));
}

TEST(SecretFiles, RefusesADirectoryThatOthersCanChange) {
  const ScratchDirectory scratch;
  const std::string path = scratch.write("a", "x", 0600);
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0777), 0);
  EXPECT_FALSE(read(path).has_value());
}

TEST(SecretFiles, RefusesWhatIsNoSmallTextFile) {
  const ScratchDirectory scratch;
  EXPECT_THAT(read(scratch.path()).error().text, HasSubstr("regular file"));
  EXPECT_FALSE(read(scratch.path() + "/missing").has_value());
  EXPECT_THAT(read(scratch.write("nul", std::string("a\0b", 3), 0600)).error().text,
              HasSubstr("NUL"));
  EXPECT_TRUE(read(scratch.write("full", std::string(max_secret_bytes, 'x'), 0600)).has_value());
  EXPECT_THAT(read(scratch.write("big", std::string(max_secret_bytes + 1, 'x'), 0600)).error().text,
              HasSubstr("64KiB"));
  const std::string fifo = scratch.path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(read(fifo).has_value());
}

Result<std::string> read_credential_in(const std::string& directory, const std::string& name) {
  const std::array<uid_t, 2> owners = {0, ::geteuid()};
  return read_credential(directory, name, owners);
}

TEST(SecretFiles, ReadsACredentialAsSystemdGivesIt) {
  const ScratchDirectory scratch;
  const std::string directory = scratch.make_directory("cellblock.service", 0700);
  scratch.write("cellblock.service/token", "plum\n", 0400);
  ASSERT_EQ(::chmod(directory.c_str(), 0500), 0);
  EXPECT_EQ(read_credential_in(directory, "token"), "plum");
  EXPECT_THAT(read_credential_in(directory, "other").error().text, HasSubstr("none of the cred"));
  EXPECT_THAT(read_credential_in("", "token").error().text,
              HasSubstr("started without credentials ($CREDENTIALS_DIRECTORY is not set)"));
  EXPECT_FALSE(read_credential_in(directory + "/none", "token").has_value());
}

TEST(SecretFiles, ReadsACredentialBelowADirectoryThatIsClosedWhereItIsOpenAlready) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to close a directory to others";
  const ScratchDirectory scratch;
  const std::string above = scratch.make_directory("credentials", 0700);
  const std::string directory = scratch.make_directory("credentials/cellblock.service", 0700);
  scratch.write("credentials/cellblock.service/token", "plum\n", 0400);
  for (const std::string& path : {directory, directory + "/token"}) {
    ASSERT_EQ(::chown(path.c_str(), 64001, 64001), 0);
  }
  const Fd opened = std::move(*open_at(AT_FDCWD, directory.c_str(), O_PATH | O_DIRECTORY));
  ASSERT_EQ(::seteuid(64001), 0);
  const auto by_path = read_credential_in(directory, "token");
  const std::array<uid_t, 2> owners = {0, 64001};
  const auto by_descriptor = read_credential(opened, directory, "token", owners);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(by_path.error().text, HasSubstr("uid 64001 may not look there"));
  EXPECT_THAT(by_path.error().text, Not(HasSubstr("chown"))) << "it is systemd's";
  EXPECT_EQ(by_descriptor, "plum");
}

TEST(SecretFiles, AreClosedToWhoMayNotReadThem) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to close a file to others";
  const ScratchDirectory scratch;
  const std::string file = scratch.write("secret", "plum", 0600);
  EXPECT_FALSE(is_closed_to_us(file));
  ASSERT_EQ(::seteuid(64001), 0);
  const bool is_closed = is_closed_to_us(file);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(is_closed);
  EXPECT_FALSE(is_closed_to_us(scratch.path() + "/none")) << "missing is another thing";
}

TEST(SecretFiles, RootOpensADirectoryOfCredentialsNowhereElse) {
  for (const char* path : {"", "/", "/etc", "/run/credentials", "/run/credentials/",
                           "/run/credentials/..", "/run/credentials/a/../../root"}) {
    EXPECT_FALSE(open_service_credentials(path).valid()) << path;
  }
}

TEST(SecretFiles, ReadsACredentialThatAnAclOpensToTheDaemon) {
  if (::getegid() != 0) GTEST_SKIP() << "needs files of root's group";
  const ScratchDirectory scratch;
  const std::string directory = scratch.make_directory("c", 0700);
  scratch.write("c/token", "plum", 0440);
  ASSERT_EQ(::chmod(directory.c_str(), 0550), 0);
  EXPECT_EQ(read_credential_in(directory, "token"), "plum");
}

TEST(SecretFiles, RefusesACredentialThatOthersCouldReachOrThatIsNoFile) {
  const ScratchDirectory scratch;
  const std::string directory = scratch.make_directory("c", 0700);
  scratch.write("c/open", "plum", 0444);
  scratch.make_directory("c/directory", 0700);
  ASSERT_EQ(::symlink("open", (directory + "/link").c_str()), 0);
  EXPECT_THAT(read_credential_in(directory, "open").error().text, HasSubstr("is open to"));
  EXPECT_THAT(read_credential_in(directory, "directory").error().text, HasSubstr("regular file"));
  EXPECT_THAT(read_credential_in(directory, "link").error().text, HasSubstr("regular file"));
  scratch.write("c/token", "plum", 0400);
  EXPECT_EQ(read_credential_in(directory, "token"), "plum");
  for (const mode_t mode : {0701, 0705, 0720, 0777}) {
    ASSERT_EQ(::chmod(directory.c_str(), mode), 0);
    EXPECT_FALSE(read_credential_in(directory, "token").has_value()) << std::oct << mode;
  }
}

/// Another user of this process, until the end of the scope.
class AsUser {
 public:
  explicit AsUser(uid_t uid) : changed_(::seteuid(uid) == 0) {}
  ~AsUser() { EXPECT_EQ(::seteuid(0), 0); }
  AsUser(const AsUser&) = delete;
  AsUser& operator=(const AsUser&) = delete;
  bool changed() const { return changed_; }

 private:
  bool changed_;
};

TEST(SecretFiles, SaysWhomToGiveAFileOrADirectoryOfRootsThatTheDaemonMayNotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const ScratchDirectory scratch;
  const std::string path = scratch.write("a", "x", 0600);
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0700), 0);
  const std::string advice = "is readable by root alone, but cellblockd runs as uid 4321: chown it";
  const auto read_by_daemon = [&] {
    const AsUser daemon(4321);
    EXPECT_TRUE(daemon.changed());
    return read(path);
  };
  EXPECT_THAT(read_by_daemon().error().text,
              HasSubstr("directory " + scratch.path() + " " + advice));
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0755), 0);
  EXPECT_EQ(read_by_daemon().error().text, advice);
}

}  // namespace
}  // namespace cellblock
