#include "policy/syscalls/syscall_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "policy/syscalls/internal_syscalls.h"
#include "policy/syscalls/syscall_refusals.h"
#include "supervisor/ipc/wire.h"

namespace cellblock {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

constexpr SyscallProfile every_profile[] = {SyscallProfile::native, SyscallProfile::node,
                                            SyscallProfile::python, SyscallProfile::browser};
constexpr InternalProfile every_internal_profile[] = {
    InternalProfile::gateway, InternalProfile::audit_writer, InternalProfile::egress,
    InternalProfile::http, InternalProfile::init};

std::vector<SyscallPolicy> every_policy() {
  std::vector<SyscallPolicy> policies;
  for (const SyscallProfile profile : every_profile) {
    for (const auto network :
         {NetworkMode::none, NetworkMode::loopback, NetworkMode::egress, NetworkMode::host}) {
      policies.push_back(syscall_policy(profile, network));
    }
  }
  for (const InternalProfile profile : every_internal_profile) {
    policies.push_back(syscall_policy(profile));
  }
  return policies;
}

std::vector<std::string_view> allowed(const SyscallPolicy& policy) {
  std::vector<std::string_view> names;
  for (const SyscallGroup* group : policy.groups) {
    names.insert(names.end(), group->calls.begin(), group->calls.end());
  }
  return names;
}

std::vector<std::string_view> ruled(const SyscallPolicy& policy) {
  std::vector<std::string_view> names;
  for (const SyscallGroup* group : policy.groups) {
    for (const RuledCall& call : group->ruled) names.push_back(call.name);
  }
  return names;
}

std::vector<std::string_view> refused(const SyscallPolicy& policy) {
  std::vector<std::string_view> names;
  for (const RefusedCalls* calls : policy.refused) {
    names.insert(names.end(), calls->calls.begin(), calls->calls.end());
  }
  return names;
}

TEST(SyscallGroups, SayWhyTheyAreThere) {
  for (const SyscallPolicy& policy : every_policy()) {
    for (const SyscallGroup* group : policy.groups) {
      EXPECT_FALSE(group->reason.empty()) << group->name;
      for (const RuledCall& call : group->ruled) EXPECT_FALSE(call.reason.empty()) << call.name;
    }
    for (const RefusedCalls* calls : policy.refused) {
      EXPECT_FALSE(calls->reason.empty()) << calls->name;
    }
  }
}

TEST(SyscallGroups, AnswerEachCallInOnePlaceOnly) {
  for (const SyscallPolicy& policy : every_policy()) {
    std::vector<std::string_view> names = allowed(policy);
    std::ranges::copy(ruled(policy), std::back_inserter(names));
    std::ranges::copy(refused(policy), std::back_inserter(names));
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    EXPECT_EQ(twice, names.end()) << *twice;
  }
}

TEST(SyscallGroups, RefuseUnderArgumentRulesWithAnErrnoWhenNoRuleHolds) {
  for (const SyscallPolicy& policy : every_policy()) {
    for (const SyscallGroup* group : policy.groups) {
      for (const RuledCall& call : group->ruled) EXPECT_GT(call.otherwise, 0) << call.name;
    }
  }
}

TEST(SyscallGroups, GiveAnonymousFilesToTheRuntimesOnly) {
  EXPECT_THAT(allowed(syscall_policy(SyscallProfile::native, NetworkMode::none)),
              Not(Contains("memfd_create")));
  EXPECT_THAT(allowed(syscall_policy(SyscallProfile::node, NetworkMode::none)),
              Contains("memfd_create"));
  EXPECT_THAT(allowed(syscall_policy(SyscallProfile::python, NetworkMode::none)),
              Contains("memfd_create"));
}

TEST(SyscallGroups, GiveNoServerACallThatChangesWhoItIs) {
  for (const SyscallProfile profile : every_profile) {
    const SyscallPolicy policy = syscall_policy(profile, NetworkMode::host);
    for (const char* name : {"setuid", "setresuid", "setgroups"}) {
      EXPECT_THAT(refused(policy), Contains(name));
    }
    // A browser's children end where they may not give up what they do not have.
    const bool is_browser = profile == SyscallProfile::browser;
    EXPECT_EQ(std::ranges::count(refused(policy), "capset"), is_browser ? 0 : 1);
    EXPECT_EQ(std::ranges::count(allowed(policy), "capset"), is_browser ? 1 : 0);
  }
}

TEST(SyscallGroups, GiveTheGatewayNoWayToMakeASocketOrAProcess) {
  const SyscallPolicy policy = syscall_policy(InternalProfile::gateway);
  for (const char* name : {"socket", "connect", "accept4", "bind", "fork", "vfork", "clone3",
                           "pidfd_open", "kill", "unlink", "rename", "pwrite64"}) {
    EXPECT_THAT(allowed(policy), Not(Contains(name)));
    EXPECT_THAT(ruled(policy), Not(Contains(name)));
  }
}

TEST(SyscallGroups, LetNoHttpHelperEndTheListenerOfTheNextOne) {
  EXPECT_EQ(http_listener_descriptor, std::uint32_t{wire::http_fd::listener});
  const SyscallPolicy policy = syscall_policy(InternalProfile::http);
  for (const char* name : {"shutdown", "setsockopt", "fcntl"}) {
    EXPECT_THAT(allowed(policy), Not(Contains(name)));
    EXPECT_THAT(ruled(policy), Contains(name));
  }
  for (const char* name : {"dup", "dup2", "dup3", "listen", "bind"}) {
    EXPECT_THAT(allowed(policy), Not(Contains(name)));
    EXPECT_THAT(ruled(policy), Not(Contains(name)));
  }
}

TEST(SyscallGroups, LetTheGatewaySendDescriptorsOverTheLaunchersChannelOnly) {
  EXPECT_EQ(gateway_launcher_descriptor, std::uint32_t{wire::gateway_fd::launcher});
  const SyscallPolicy policy = syscall_policy(InternalProfile::gateway);
  for (const char* name :
       {"sendmsg", "sendmmsg", "close", "close_range", "dup2", "dup3", "fcntl", "ioctl"}) {
    EXPECT_THAT(allowed(policy), Not(Contains(name)));
  }
  for (const char* name : {"sendmmsg", "close_range", "dup2", "dup3"}) {
    EXPECT_THAT(ruled(policy), Not(Contains(name)));
  }
}

TEST(SyscallGroups, KillAnInitThatDoesAnythingElse) {
  const SyscallPolicy policy = syscall_policy(InternalProfile::init);
  EXPECT_EQ(policy.unlisted, UnlistedCall::kill_process);
  EXPECT_THAT(ruled(policy), IsEmpty());
  EXPECT_LE(allowed(policy).size(), 16U);
}

TEST(SyscallGroups, ReportForeignCallsOfServersOnly) {
  EXPECT_EQ(syscall_policy(SyscallProfile::node, NetworkMode::none).foreign, ForeignCall::notify);
  for (const InternalProfile profile : every_internal_profile) {
    EXPECT_EQ(syscall_policy(profile).foreign, ForeignCall::kill_process);
  }
}

TEST(RecentCallNumber, KnowsNoNameThatWasMadeUp) {
  EXPECT_EQ(recent_call_number("mseal"), 462);
  EXPECT_EQ(recent_call_number("make_me_root"), std::nullopt);
}

}  // namespace
}  // namespace cellblock
