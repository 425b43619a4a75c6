#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "supervisor/seccomp/seccomp_filter.h"
#include "tests/unit/filter_machine.h"
#include "tests/unit/filtered_child.h"

namespace cellblock::launcher {
namespace {

using testing_support::action_of;
using testing_support::answer_under;

#ifdef __x86_64__
constexpr std::uint32_t here = AUDIT_ARCH_X86_64;
#else
constexpr std::uint32_t here = AUDIT_ARCH_AARCH64;
#endif

struct Asked {
  std::uint32_t family;
  std::uint32_t type;
  std::uint32_t protocol;
};

constexpr std::uint32_t mptcp = 262;
constexpr std::uint32_t families = 47;  // AF_MCTP is 45
constexpr std::uint32_t types = 16;
constexpr std::array<std::uint32_t, 12> protocols = {0,  1,  2,   6,   15,    17,
                                                     33, 58, 132, 255, mptcp, 0xffff'ffff};

bool is_internet(const Asked& asked) { return asked.family == AF_INET || asked.family == AF_INET6; }
bool is_tcp_or_udp(const Asked& asked) {
  const bool tcp =
      asked.type == SOCK_STREAM && (asked.protocol == 0 || asked.protocol == IPPROTO_TCP);
  const bool udp =
      asked.type == SOCK_DGRAM && (asked.protocol == 0 || asked.protocol == IPPROTO_UDP);
  return is_internet(asked) && (tcp || udp);
}

// What a C library asks the cell's resolver with, which has an IPv4 address.
bool is_question(const Asked& asked) {
  return asked.family == AF_INET && asked.type == SOCK_DGRAM && is_tcp_or_udp(asked);
}

// Written down a second time, without the tables.
int expected(NetworkMode network, const Asked& asked) {
  const bool routes = asked.family == AF_NETLINK && asked.protocol == NETLINK_ROUTE;
  if (routes) return network == NetworkMode::host ? EAFNOSUPPORT : 0;
  if (network == NetworkMode::none) {
    if (is_question(asked)) return 0;
    return is_internet(asked) ? EACCES : EAFNOSUPPORT;
  }
  return is_tcp_or_udp(asked) ? 0 : EAFNOSUPPORT;
}

std::uint32_t answer(const FilterProgram& filter, const Asked& asked, std::uint64_t more) {
  return action_of(
      filter, {.nr = SYS_socket,
               .arch = here,
               .instruction_pointer = 0,
               .args = {more | asked.family, more | asked.type, more | asked.protocol, 0, 0, 0}});
}

std::string name_of(const Asked& asked) {
  return "socket(" + std::to_string(asked.family) + ", " + std::to_string(asked.type) + ", " +
         std::to_string(asked.protocol) + ")";
}

template <class Check>
void for_every_socket(Check check) {
  for (std::uint32_t family = 0; family < families; ++family) {
    for (std::uint32_t type = 0; type < types; ++type) {
      for (const std::uint32_t protocol : protocols) check(Asked{family, type, protocol});
    }
  }
}

class SocketFilter : public testing::TestWithParam<NetworkMode> {
 protected:
  void SetUp() override {
    auto compiled = compile_filter(SyscallRules{.base = SyscallProfile::node}, GetParam());
    ASSERT_TRUE(compiled.has_value()) << compiled.error().text;
    filter_ = std::move(*compiled);
  }

  FilterProgram filter_;
};

TEST_P(SocketFilter, AnswersEveryFamilyTypeAndProtocolAsItsModeSays) {
  for_every_socket([&](const Asked& asked) {
    const int error = expected(GetParam(), asked);
    const std::uint32_t wanted = error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF;
    EXPECT_EQ(answer(filter_, asked, 0), wanted) << name_of(asked);
    const ArgumentWords words = {asked.family, asked.type, asked.protocol};
    if (error != 0) {
      EXPECT_EQ(filter_.refusals.error_for(SYS_socket, words), error) << name_of(asked);
    }
    // What the kernel cuts off must not count.
    EXPECT_EQ(answer(filter_, asked, 1ULL << 32), wanted) << name_of(asked) << ", high bits";
    Asked flagged = asked;
    flagged.type |= SOCK_CLOEXEC | SOCK_NONBLOCK;
    EXPECT_EQ(answer(filter_, flagged, 0), wanted) << name_of(flagged);
  });
}

TEST_P(SocketFilter, KeepsPairs) {
  const auto pair = [] {
    int ends[2];
    return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  };
  EXPECT_EQ(answer_under(filter_, pair), "allowed");
  const auto broken = [] {
    int ends[2];
    return ::socketpair(AF_TIPC, SOCK_STREAM, 0, ends);
  };
  EXPECT_EQ(answer_under(filter_, broken), "EAFNOSUPPORT");
}

TEST_P(SocketFilter, MakesNoPairOfDatagramsThatCouldBeTurnedToAnotherSocket) {
  const auto pair = [] {
    int ends[2];
    return ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends);
  };
  EXPECT_EQ(answer_under(filter_, pair), "EAFNOSUPPORT");
}

TEST_P(SocketFilter, GivesTheKernelsOwnAnswersInARealProcess) {
  const auto make = [](int family) {
    return [family] { return ::socket(family, SOCK_STREAM, 0); };
  };
  const char* internet = GetParam() == NetworkMode::none ? "EACCES" : "allowed";
  EXPECT_EQ(answer_under(filter_, make(AF_INET)), internet);
  EXPECT_EQ(answer_under(filter_, make(AF_INET6)), internet);
  EXPECT_EQ(answer_under(filter_, make(AF_UNIX)), "EAFNOSUPPORT");
}

TEST_P(SocketFilter, OfABrowserDiffersByItsOwnUnixSocketsOnly) {
  const auto browser = compile_filter(SyscallRules{.base = SyscallProfile::browser}, GetParam());
  ASSERT_TRUE(browser.has_value()) << browser.error().text;
  for_every_socket([&](const Asked& asked) {
    const bool is_own = asked.family == AF_UNIX && asked.protocol == 0 &&
                        (asked.type == SOCK_STREAM || asked.type == SOCK_SEQPACKET) &&
                        GetParam() != NetworkMode::host;
    const int error = is_own ? 0 : expected(GetParam(), asked);
    const std::uint32_t wanted = error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_USER_NOTIF;
    EXPECT_EQ(answer(*browser, asked, 0), wanted) << name_of(asked);
    EXPECT_EQ(answer(*browser, asked, 1ULL << 32), wanted) << name_of(asked) << ", high bits";
  });
}

std::string name_of_mode(const testing::TestParamInfo<NetworkMode>& mode) {
  constexpr std::array names = {"None", "Loopback", "Egress", "Host"};
  return names.at(static_cast<std::size_t>(mode.param));
}

INSTANTIATE_TEST_SUITE_P(EveryMode, SocketFilter,
                         testing::Values(NetworkMode::none, NetworkMode::loopback,
                                         NetworkMode::egress, NetworkMode::host),
                         name_of_mode);

}  // namespace
}  // namespace cellblock::launcher
