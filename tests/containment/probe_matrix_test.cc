// Every attempt of cellblock-probe: what it gets in a cell of each profile and network that is
// shipped, and that the same attempt succeeds outside. Failures name the attempt.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "policy/syscalls/syscall_numbers.h"
#include "policy/syscalls/syscall_rules.h"
#include "tests/containment/launcher_process.h"
#include "tests/containment/outside_lacks.h"
#include "tests/containment/probe_expectations.h"
#include "tests/containment/probe_runner.h"

namespace cellblock::containment {
namespace {

struct Profile {
  const char* name;
  SyscallProfile base;
  WriteExec write_exec;  ///< the profile's default
};
constexpr Profile profiles[] = {
    {"native", SyscallProfile::native, WriteExec::refused},
    {"node", SyscallProfile::node, WriteExec::allowed},
    {"python", SyscallProfile::python, WriteExec::refused},
    {"browser", SyscallProfile::browser, WriteExec::allowed},
};

struct Network {
  const char* name;
  NetworkMode mode;
};
constexpr Network networks[] = {{"none", NetworkMode::none},
                                {"loopback", NetworkMode::loopback},
                                {"egress", NetworkMode::egress},
                                {"host", NetworkMode::host}};

struct Case {
  Profile profile;
  Network network;
};

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.profile.name << ", " << tested.network.name;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Profile& profile : profiles) {
    for (const Network& network : networks) cases.push_back({profile, network});
  }
  return cases;
}

Server server_of(const Case& tested) {
  Server server;
  server.syscalls.base = tested.profile.base;
  server.syscalls.name = tested.profile.name;
  server.syscalls.write_exec = tested.profile.write_exec;
  server.network = tested.network.mode;
  if (tested.network.mode == NetworkMode::egress) {
    server.egress.allow = {{.target = EgressTarget::name, .host = "service.example", .port = 443}};
  }
  return server;
}

/// A directory and something outside to reach for, anew for each test.
class Probe : public testing::Test {
 protected:
  Probe() : directory_(ids_here().daemon), targets_(directory_) {}

  Answers inside(const Server& server, const std::vector<std::string>& more = {}) const {
    std::string trouble;
    Answers answers = probe_inside(directory_, targets_, server, trouble, more);
    EXPECT_EQ(trouble, "");
    return answers;
  }

  harness::TestDirectory directory_;
  ProbeTargets targets_;
};

class ProbeMatrix : public Probe, public testing::WithParamInterface<Case> {};

std::string describe(const std::string& id, const Answer& answer) {
  return id + ": " + answer.result + " " + answer.error + " " + answer.detail;
}

TEST_P(ProbeMatrix, OnlyWhatIsDeclaredIsOpen) {
  const Answers answers = inside(server_of(GetParam()));
  ASSERT_GT(answers.size(), 200U);
  for (const auto& [id, answer] : answers) {
    if (answer.verdict == "unexpected") ADD_FAILURE() << describe(id, answer);
  }
}

// A browser has Unix sockets, of which none of the host's can be reached.
bool is_held_behind_the_socket(const Case& tested, const std::string& id, const std::string& way) {
  if (tested.profile.base != SyscallProfile::browser) return false;
  if (id == "connect_to_abstract_socket") return way == "ECONNREFUSED" || way == "EPERM";
  if (id == "connect_to_known_services") return way == "ENOENT" || way == "EACCES";
  return id == "connect_to_unix_socket" && way == "EACCES";
}

TEST_P(ProbeMatrix, WhatIsHeldIsHeldInTheWayThatIsExpected) {
  for (const auto& [id, answer] : inside(server_of(GetParam()))) {
    if (answer.result != "held" || is_held_behind_the_socket(GetParam(), id, answer.error)) {
      continue;
    }
    const auto expected = expected_ways(id);
    const std::string way = answer.error.empty() ? "-" : answer.error;
    EXPECT_NE(std::ranges::find(expected, way), expected.end()) << describe(id, answer);
  }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  return std::string(info.param.profile.name) + "_" + info.param.network.name;
}

INSTANTIATE_TEST_SUITE_P(Shipped, ProbeMatrix, testing::ValuesIn(all_cases()), case_name);

// --- outside -------------------------------------------------------------------------------------

/// The better of two answers, for who tries it.
const Answer& better(const Answer& one, const Answer& other) {
  return one.result == "open" ? one : other;
}

// On the same machine, by the cell's user or by root. What cannot be done here proves nothing about
// cells: such attempts are known one by one, with what the machine lacks for each, and the test is
// then a skip that names them. Any other that fails is a failure.
class ProbeOutside : public Probe, public testing::WithParamInterface<const char*> {};

TEST_P(ProbeOutside, EachAttemptOfThisClassSucceedsOrItIsKnownWhatTheMachineLacks) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: much of it nobody else can do anywhere";
  const Answers by_user = probe_outside(directory_, targets_, Outside::same_user);
  const Answers by_root = probe_outside(directory_, targets_, Outside::root);
  ASSERT_GT(by_user.size(), 200U);
  std::string lacking;
  for (const auto& [id, answer] : by_user) {
    if (answer.kind != GetParam()) continue;
    const Answer& best = better(answer, by_root.at(id));
    if (best.result == "open") continue;
    const auto why = lacking_outside(id, best.error);
    EXPECT_NE(why, "") << describe(id, best) << ", and nothing is known to be lacking for it";
    lacking += "\n  " + describe(id, best) + ": " + std::string(why);
  }
  if (!lacking.empty()) GTEST_SKIP() << "this machine lacks:" << lacking;
}

std::string class_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Every, ProbeOutside,
                         testing::Values("files", "processes", "kernel", "memory", "network",
                                         "privileges", "resources", "terminal", "ipc",
                                         "environment"),
                         class_name);

// --- bombs and what ends the cell ----------------------------------------------------------------

Server bounded_server() {
  Server server = server_of({profiles[0], networks[0]});
  server.limits.pids = 40;
  server.limits.open_files = 64;
  server.limits.tmp_bytes = 1U << 20;
  server.limits.file_bytes = 128U << 20;  // above /dev/shm's own size
  return server;
}

TEST_F(Probe, NoBombGetsPastItsLimit) {
  const std::vector<std::string> bombs = {
      "--bombs",         "fork_bomb",     "thread_bomb",         "flood_with_dead_processes",
      "descriptor_bomb", "pipe_bomb",     "park_descriptors",    "fill_tmp",
      "fill_shm",        "use_up_inodes", "make_sparse_terabyte"};
  const Answers answers = inside(bounded_server(), bombs);
  ASSERT_EQ(answers.size(), bombs.size() - 1);
  for (const auto& [id, answer] : answers) {
    const auto expected = expected_ways(id);
    EXPECT_NE(std::ranges::find(expected, answer.error), expected.end()) << describe(id, answer);
  }
}

TEST_F(Probe, WhatEndsTheWholeCellIsTriedOnlyWhereItIsAskedFor) {
  EXPECT_FALSE(inside(bounded_server()).contains("call_by_int_80"));
  std::string trouble;
  const Answers none = probe_inside(directory_, targets_, bounded_server(), trouble,
                                    {"--with-fatal", "call_by_x32", "call_by_int_80"});
  EXPECT_NE(trouble, "");
  EXPECT_TRUE(none.empty());
}

TEST_F(Probe, FailsInACellThatIsTooTightToTryAnythingIn) {
  Server server = bounded_server();
  server.limits.pids = 1;
  std::string trouble;
  const Answers answers = probe_inside(directory_, targets_, server, trouble);
  ASSERT_GT(answers.size(), 200U);
  EXPECT_THAT(trouble, testing::HasSubstr("exit code 1"));
  for (const auto& [id, answer] : answers) {
    EXPECT_EQ(answer.verdict, "unexpected") << describe(id, answer);
  }
}

// Each call of this kernel that an admin's profile may allow.
std::vector<std::string> every_call_that_may_be_allowed(WriteExec write_exec) {
  std::vector<std::string> calls;
  for (int number = 0; number < 500; ++number) {
    const auto name = call_name(number);
    if (!name || !never_allowed_because(*name).empty()) continue;
    if (write_exec == WriteExec::refused && *name == "memfd_create") continue;
    calls.emplace_back(*name);
  }
  return calls;
}

TEST_F(Probe, NamesTheCallsOfAProfileThatOpenAnAttempt) {
  for (const WriteExec write_exec : {WriteExec::refused, WriteExec::allowed}) {
    Server server = server_of({profiles[0], networks[0]});
    server.syscalls = {.base = SyscallProfile::native,
                       .name = "debug",
                       .allow = every_call_that_may_be_allowed(write_exec),
                       .write_exec = write_exec};
    const Answers answers = inside(server);
    for (const auto& [id, answer] : answers) {
      EXPECT_NE(answer.verdict, "unexpected") << describe(id, answer);
    }
    for (const char* id : {"trace_child", "read_child_memory", "make_shared_segment"}) {
      EXPECT_EQ(answers.at(id).verdict, "declared") << describe(id, answers.at(id));
    }
  }
}

TEST_F(Probe, SaysWhatOpensAnAttempt) {
  Server server = server_of({profiles[1], networks[1]});
  server.execute_writable = true;
  const Answers answers = inside(server, {"run_from_home", "map_write_exec", "tcp_socket"});
  for (const auto& [id, answer] : answers) {
    EXPECT_EQ(answer.result, "open") << describe(id, answer);
    EXPECT_EQ(answer.verdict, "declared") << describe(id, answer);
  }
}

}  // namespace
}  // namespace cellblock::containment
