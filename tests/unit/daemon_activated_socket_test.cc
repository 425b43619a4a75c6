#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "supervisor/activation/activated_socket.h"
#include "supervisor/activation/socket_match.h"
#include "supervisor/daemon/sockets/listener.h"

namespace cellblock::daemon {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t daemon_id = 990;

Config config_of(const std::string& path) {
  Config config;
  config.listen.socket = path;
  config.listen.mode = 0660;
  config.identity.uid = daemon_id;
  config.identity.gid = daemon_id;
  return config;
}

SocketFacts right() {
  return {.is_unix_stream = true,
          .listens = true,
          .path = "/run/cellblock/cellblock.sock",
          .file = SocketFile{.is_socket = true, .mode = 0660, .owner = 0, .group = daemon_id}};
}

std::string why_not(const SocketFacts& socket) {
  const auto matched = match_socket(socket, config_of("/run/cellblock/cellblock.sock"));
  return matched ? "" : matched.error().text;
}

TEST(SocketMatch, TakesTheSocketOfTheConfiguration) { EXPECT_EQ(why_not(right()), ""); }

TEST(SocketMatch, RefusesAnotherKindOfSocket) {
  auto socket = right();
  socket.is_unix_stream = false;
  EXPECT_THAT(why_not(socket), HasSubstr("no Unix stream socket"));
}

TEST(SocketMatch, RefusesAConnectionInThePlaceOfAListener) {
  auto socket = right();
  socket.listens = false;
  EXPECT_THAT(why_not(socket), HasSubstr("does not listen"));
}

TEST(SocketMatch, RefusesAnotherPath) {
  auto socket = right();
  socket.path = "/run/other.sock";
  EXPECT_THAT(why_not(socket), HasSubstr("is at \"/run/other.sock\", but socket.path is"));
  socket.path.clear();
  EXPECT_THAT(why_not(socket), HasSubstr("is at \"\""));
}

TEST(SocketMatch, RefusesASocketWhoseFileIsGone) {
  auto socket = right();
  socket.file.reset();
  EXPECT_THAT(why_not(socket), HasSubstr("no file at"));
}

TEST(SocketMatch, RefusesAModeThatLetsOthersInThanTheConfiguration) {
  auto socket = right();
  socket.file->mode = 0666;
  EXPECT_THAT(why_not(socket), HasSubstr("mode 0666, but socket.mode is 0660"));
}

TEST(SocketMatch, RefusesAGroupThatIsNotTheConfigurations) {
  auto socket = right();
  socket.file->group = 100;
  EXPECT_THAT(why_not(socket), HasSubstr("group 100, but by the configuration"));
}

TEST(SocketMatch, TakesAnyGroupWhereTheModeGivesItWhatItGivesOthers) {
  auto config = config_of("/run/cellblock/cellblock.sock");
  auto socket = right();
  socket.file->group = 0;
  for (const std::uint32_t mode : {0666U, 0600U}) {
    config.listen.mode = socket.file->mode = mode;
    EXPECT_TRUE(match_socket(socket, config)) << mode;
  }
  for (const std::uint32_t mode : {0660U, 0640U, 0606U}) {
    config.listen.mode = socket.file->mode = mode;
    EXPECT_FALSE(match_socket(socket, config)) << mode;
  }
}

TEST(SocketMatch, RefusesAnOwnerWhoCouldLetOthersIn) {
  auto socket = right();
  socket.file->owner = 1'000;
  EXPECT_THAT(why_not(socket), HasSubstr("belongs to uid 1000"));
}

class AdoptedSocket : public ::testing::Test {
 protected:
  AdoptedSocket() {
    std::string pattern = std::filesystem::temp_directory_path() / "cellblock-test-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    config_ = config_of(directory_ / "socket");
    config_.identity.uid = ::geteuid();
    config_.identity.gid = ::getegid();
    managers_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_of_socket();
    EXPECT_EQ(::bind(managers_.get(), general(address), sizeof address), 0);
    EXPECT_EQ(::chmod(address.sun_path, 0660), 0);
    EXPECT_EQ(::listen(managers_.get(), 8), 0);
  }
  ~AdoptedSocket() override { std::filesystem::remove_all(directory_); }

  static const sockaddr* general(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
  }
  sockaddr_un address_of_socket() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, config_.listen.socket.c_str());
    return address;
  }
  Fd connect() const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_of_socket();
    if (::connect(socket.get(), general(address), sizeof address) < 0) return {};
    return socket;
  }
  Result<BoundSocket> adopt() const {
    return adopt_socket(duplicate(managers_.get()).value(), config_);
  }

  std::filesystem::path directory_;
  Config config_;
  Fd managers_;
};

TEST_F(AdoptedSocket, NeverBlocks) {
  const auto socket = adopt();
  ASSERT_TRUE(socket) << socket.error().text;
  EXPECT_TRUE(::fcntl(socket->get(), F_GETFL) & O_NONBLOCK);
}

TEST_F(AdoptedSocket, KeepsItsFileAtTheEnd) {
  {
    const auto socket = adopt();
  }
  EXPECT_TRUE(std::filesystem::exists(config_.listen.socket));
}

TEST_F(AdoptedSocket, OfAnotherModeIsRefused) {
  ASSERT_EQ(::chmod(config_.listen.socket.c_str(), 0666), 0);
  const auto socket = adopt();
  ASSERT_FALSE(socket);
  EXPECT_THAT(socket.error().text, HasSubstr("mode 0666"));
}

TEST_F(AdoptedSocket, WhoseFileWasReplacedByALinkIsRefused) {
  std::filesystem::remove(config_.listen.socket);
  std::filesystem::create_symlink("/dev/null", config_.listen.socket);
  const auto socket = adopt();
  ASSERT_FALSE(socket);
  EXPECT_THAT(socket.error().text, HasSubstr("no file at"));
}

TEST_F(AdoptedSocket, OfAnotherKindIsRefused) {
  const auto socket = adopt_socket(std::move(make_seqpacket_pair()->first), config_);
  ASSERT_FALSE(socket);
  EXPECT_THAT(socket.error().text, HasSubstr("no Unix stream socket"));
}

TEST_F(AdoptedSocket, LeavesThoseWhoWaitToTheNextListener) {
  boost::asio::io_context loop;
  const auto accept_into = [](int& count) { return [&count](const Fd&) { ++count; }; };
  int first = 0;
  Fd waiting;
  {
    auto bound = adopt().value();
    ASSERT_TRUE(bound.is_lent());
    const auto listener = Listener::listen(loop, bound.take(), accept_into(first), Tenure::lent);
    waiting = connect();
    ASSERT_TRUE(waiting.valid());
    (*listener)->stop();
  }
  EXPECT_EQ(first, 0);
  int second = 0;
  const auto listener =
      Listener::listen(loop, adopt().value().take(), accept_into(second), Tenure::lent);
  while (second == 0) loop.run_one();
  EXPECT_EQ(second, 1);
}

}  // namespace
}  // namespace cellblock::daemon
