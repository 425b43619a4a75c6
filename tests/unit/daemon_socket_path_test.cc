#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "supervisor/activation/socket_path.h"

namespace cellblock::daemon {
namespace {

using ::testing::HasSubstr;

class BoundSocketTest : public ::testing::Test {
 protected:
  BoundSocketTest() {
    std::string pattern = std::filesystem::temp_directory_path() / "cellblock-test-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    listen_.socket = directory_ / "socket";
    listen_.mode = 0620;
  }
  ~BoundSocketTest() override { std::filesystem::remove_all(directory_); }

  bool connects() const {
    const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, listen_.socket.c_str());
    return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
           0;
  }

  std::filesystem::path directory_;
  Listen listen_;
};

TEST_F(BoundSocketTest, HasTheModeThatWasAskedForWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  const auto socket = BoundSocket::bind(listen_);
  ::umask(before);
  ASSERT_TRUE(socket);
  struct stat status{};
  ASSERT_EQ(::lstat(listen_.socket.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0620U);
}

TEST_F(BoundSocketTest, RefusesConnectionsUntilItListens) {
  const auto socket = BoundSocket::bind(listen_);
  EXPECT_FALSE(connects());
  ASSERT_EQ(::listen(socket->get(), 1), 0);
  EXPECT_TRUE(connects());
}

TEST_F(BoundSocketTest, TakesItsFileAwayAtTheEnd) {
  {
    const auto socket = BoundSocket::bind(listen_);
  }
  EXPECT_FALSE(std::filesystem::exists(listen_.socket));
}

TEST_F(BoundSocketTest, LeavesAFileThatIsNoLongerItsOwn) {
  {
    const auto socket = BoundSocket::bind(listen_);
    std::filesystem::rename(listen_.socket, directory_ / "moved");
    std::filesystem::create_directory(listen_.socket);
  }
  EXPECT_TRUE(std::filesystem::exists(listen_.socket));
}

TEST_F(BoundSocketTest, ReplacesAStaleSocketFile) {
  {
    const auto socket = BoundSocket::bind(listen_);
    std::filesystem::rename(listen_.socket, directory_ / "moved");
  }
  std::filesystem::rename(directory_ / "moved", listen_.socket);
  EXPECT_TRUE(BoundSocket::bind(listen_));
}

TEST_F(BoundSocketTest, RefusesASocketThatIsServed) {
  const auto first = BoundSocket::bind(listen_);
  ASSERT_EQ(::listen(first->get(), 1), 0);
  const auto second = BoundSocket::bind(listen_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text, HasSubstr("running already"));
  EXPECT_TRUE(connects());
}

TEST_F(BoundSocketTest, NeverRemovesAFileThatIsNoSocket) {
  std::filesystem::create_directory(listen_.socket);
  const auto socket = BoundSocket::bind(listen_);
  ASSERT_FALSE(socket);
  EXPECT_THAT(socket.error().text, HasSubstr("not a socket"));
  EXPECT_TRUE(std::filesystem::exists(listen_.socket));
}

TEST_F(BoundSocketTest, RefusesAPathThatIsTooLong) {
  listen_.socket += std::string(200, 'x');
  EXPECT_FALSE(BoundSocket::bind(listen_));
}

}  // namespace
}  // namespace cellblock::daemon
