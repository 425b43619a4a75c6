// cellblockd and a service manager: the socket it lends, and what it is told.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using ::testing::HasSubstr;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path.c_str());
  return address;
}

/// The manager's side: a socket that it is told things by.
class Manager {
 public:
  explicit Manager(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    const sockaddr_un address = address_of(path);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    EXPECT_EQ(::chmod(path.c_str(), 0666), 0);
  }

  bool is_told(std::string_view wanted) const {
    std::array<char, 4'096> text{};
    pollfd ready{socket_.get(), POLLIN, 0};
    while (::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(deadline).count())) == 1) {
      const ssize_t size = ::recv(socket_.get(), text.data(), text.size(), 0);
      if (size > 0 && std::string_view(text.data(), size).find(wanted) != std::string_view::npos) {
        return true;
      }
    }
    return false;
  }

 private:
  Fd socket_;
};

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() : manager_(daemon_.directory().path("notify")) {}

  DaemonOptions options(std::vector<std::string> more = {}) const {
    more.push_back("NOTIFY_SOCKET=" + daemon_.directory().path("notify"));
    return {.servers = server_of_build(daemon_, "echo", "echo_server"),
            .environment = std::move(more)};
  }

  /// With a socket of the manager's, of that mode and name.
  DaemonOptions lent(const std::string& mode, const std::string& name) const {
    auto wanted = options();
    const bool as_root = daemon_.mode() == Mode::system;
    wanted.wrapper = {"/usr/bin/python3",
                      LEND_SOCKET,
                      daemon_.socket(),
                      mode,
                      name,
                      std::to_string(as_root ? daemon_uid : ::geteuid()),
                      std::to_string(as_root ? hosts_group : ::getegid())};
    return wanted;
  }
  std::string own_mode() const { return daemon_.mode() == Mode::system ? "0660" : "0600"; }
  bool socket_is_there() const { return std::filesystem::exists(daemon_.socket()); }
  void take_socket_away() const { std::filesystem::remove(daemon_.socket()); }

  Daemon daemon_{running_as_root() ? Mode::system : Mode::user};
  Manager manager_;
};

TEST_F(ServiceTest, TellsTheManagerThatItIsReadyAndWhatItHas) {
  daemon_.start(options());
  EXPECT_TRUE(manager_.is_told("READY=1\nSTATUS=1 server declared, 0 users, 0 cells"));
}

TEST_F(ServiceTest, TellsTheManagerThatItIsAlive) {
  daemon_.start(options({"WATCHDOG_USEC=300000"}));
  EXPECT_TRUE(manager_.is_told("WATCHDOG=1\n"));
  EXPECT_TRUE(manager_.is_told("WATCHDOG=1\n"));
}

TEST_F(ServiceTest, TellsTheManagerThatItStops) {
  daemon_.start(options());
  ASSERT_TRUE(daemon_.stop());
  EXPECT_TRUE(manager_.is_told("STOPPING=1\nSTATUS=stopping"));
}

TEST_F(ServiceTest, DoesNotStartWithAWatchdogThatCannotBeRead) {
  EXPECT_THAT(daemon_.start_in_vain(options({"WATCHDOG_USEC=soon"})),
              HasSubstr("WATCHDOG_USEC=\"soon\" is no number"));
}

TEST_F(ServiceTest, ServesOnTheSocketThatTheManagerLendsAndLeavesItToIt) {
  daemon_.start(lent(own_mode(), "mcp"));
  EXPECT_THAT(daemon_.log(), HasSubstr("socket of the service manager"));
  {
    Host host = daemon_.connect();
    host.open_session("echo");
    EXPECT_EQ(host.call_for_text("echo", {{"text", "lent"}}), "lent");
  }
  ASSERT_TRUE(daemon_.stop());
  EXPECT_TRUE(socket_is_there());
  take_socket_away();
}

TEST_F(ServiceTest, DoesNotStartOnALentSocketThatLetsOthersInThanItsConfiguration) {
  EXPECT_THAT(daemon_.start_in_vain(lent("0666", "mcp")), HasSubstr("has mode 0666"));
  take_socket_away();
}

TEST_F(ServiceTest, DoesNotStartWithALentSocketThatItHasNoNameFor) {
  EXPECT_THAT(daemon_.start_in_vain(lent(own_mode(), "other")), HasSubstr("named \"other\""));
  take_socket_away();
}

}  // namespace
}  // namespace cellblock::harness
