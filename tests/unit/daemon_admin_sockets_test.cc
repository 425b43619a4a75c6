#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "supervisor/daemon/sockets/admin_sockets.h"

namespace cellblock::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

mode_t mode_of(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

class AdminDoorsTest : public ::testing::Test {
 protected:
  AdminDoorsTest() {
    directory_ = std::filesystem::temp_directory_path() / ("sockets" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory_);
    config_.listen.socket = directory_ / "x.sock";
  }
  ~AdminDoorsTest() override {
    admin_sockets_.reset();
    std::filesystem::remove_all(directory_);
  }

  void make() {
    auto sockets = AdminSockets::make(
        loop_, config_,
        {.at_user = [this](std::uint32_t user, Fd socket) { came(user, std::move(socket)); },
         .at_switch = [this](AdminSwitch which, Fd) { stood_.push_back(which); },
         .at_status = [this](Fd) { ++asked_; },
         .close_later = [this](Fd) { ++closed_later_; }});
    ASSERT_TRUE(sockets) << sockets.error().text;
    admin_sockets_ = std::move(*sockets);
  }
  void came(std::uint32_t user, Fd socket) {
    came_.push_back(user);
    held_.push_back(std::move(socket));
  }

  std::string path(const std::string& name) const {
    return config_.listen.socket + ".admin." + name;
  }

  Fd connect(const std::string& name) const {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path(name).data(), path(name).size());
    const auto* general = reinterpret_cast<const sockaddr*>(&address);
    return ::connect(socket.get(), general, sizeof address) == 0 ? std::move(socket) : Fd();
  }

  void turn() {
    loop_.restart();
    loop_.poll();
  }

  std::filesystem::path directory_;
  Config config_;
  boost::asio::io_context loop_{1};
  std::vector<std::uint32_t> came_;
  std::vector<AdminSwitch> stood_;
  std::vector<Fd> held_;
  int closed_later_ = 0;
  int asked_ = 0;
  std::unique_ptr<AdminSockets> admin_sockets_;
};

TEST_F(AdminDoorsTest, ADoorIsOfOneUserAndThereAsLongAsItIsOpen) {
  make();
  EXPECT_FALSE(connect("1000").valid());
  ASSERT_TRUE(admin_sockets_->open(1000));
  ASSERT_TRUE(admin_sockets_->open(1000)) << "open already";
  ASSERT_TRUE(admin_sockets_->open(1001));
  const Fd one = connect("1000");
  EXPECT_TRUE(one.valid());
  turn();
  EXPECT_THAT(came_, ElementsAre(1000));
  admin_sockets_->close(1000);
  EXPECT_FALSE(std::filesystem::exists(path("1000")));
  EXPECT_TRUE(connect("1001").valid());
  EXPECT_EQ(closed_later_, 1);
}

TEST_F(AdminDoorsTest, AtASwitchStandsWhoeverConnectsThere) {
  make();
  const Fd one = connect("disable");
  const Fd other = connect("enable");
  turn();
  EXPECT_THAT(stood_, ::testing::UnorderedElementsAre(AdminSwitch::disable, AdminSwitch::enable));
}

TEST_F(AdminDoorsTest, TheStatusHasASocketOfItsOwn) {
  make();
  const Fd one = connect("status");
  turn();
  EXPECT_EQ(asked_, 1);
  EXPECT_THAT(stood_, IsEmpty());
}

TEST_F(AdminDoorsTest, WhoeverStandsBeforeADoorThatClosesIsStillToldSo) {
  make();
  ASSERT_TRUE(admin_sockets_->open(1000));
  const Fd one = connect("1000");
  admin_sockets_->close(1000);
  EXPECT_THAT(came_, ElementsAre(1000));
}

TEST_F(AdminDoorsTest, NobodyIsAcceptedWhileTheyAreHeld) {
  make();
  admin_sockets_->hold();
  ASSERT_TRUE(admin_sockets_->open(1000));
  const Fd one = connect("1000");
  turn();
  EXPECT_THAT(came_, IsEmpty());
  admin_sockets_->go_on();
  turn();
  EXPECT_THAT(came_, ElementsAre(1000));
}

TEST_F(AdminDoorsTest, RemovesWhatAnEarlierDaemonLeftAndNothingElse) {
  make();
  ASSERT_TRUE(admin_sockets_->open(1000));
  std::filesystem::rename(path("1000"), path("1002"));
  const std::string file = path("notes");
  ASSERT_EQ(::mknod(file.c_str(), S_IFREG | 0600, 0), 0);
  admin_sockets_.reset();
  EXPECT_TRUE(std::filesystem::exists(path("1002")))
      << "it was put in the place of nothing of ours";
  make();
  EXPECT_FALSE(std::filesystem::exists(path("1002")));
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::exists(path("enable")));
}

TEST_F(AdminDoorsTest, OnlyRootAndTheDaemonReachThemWhereNobodyElseIsNamed) {
  make();
  EXPECT_EQ(mode_of(path("disable")), 0600U);
  admin_sockets_.reset();
  config_.admins = {1001};
  make();
  EXPECT_EQ(mode_of(path("disable")), 0666U);
}

TEST_F(AdminDoorsTest, AReloadOpensThemToTheFirstAdministratorAndClosesThemAfterTheLast) {
  make();
  ASSERT_TRUE(admin_sockets_->open(1000));
  config_.admins = {1001};
  ASSERT_TRUE(admin_sockets_->reconfigure(config_));
  ASSERT_TRUE(admin_sockets_->open(1002));
  for (const char* name : {"disable", "status", "1000", "1002"}) {
    EXPECT_EQ(mode_of(path(name)), 0666U) << name;
  }
  EXPECT_EQ(mode_of(path("reload")), 0600U) << "root's alone";
  config_.admins.clear();
  ASSERT_TRUE(admin_sockets_->reconfigure(config_));
  EXPECT_EQ(mode_of(path("1000")), 0600U);
}

TEST_F(AdminDoorsTest, NoDoorIsLeftWhenTheyAreGone) {
  make();
  ASSERT_TRUE(admin_sockets_->open(1000));
  admin_sockets_.reset();
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

}  // namespace
}  // namespace cellblock::daemon
