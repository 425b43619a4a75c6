#include "policy/syscalls/denial_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "policy/syscalls/syscall_numbers.h"
#include "policy/syscalls/syscall_rules.h"
#include "policy/syscalls/syscall_table.h"

namespace cellblock {
namespace {

using testing::StartsWith;

struct Row {
  DeniedCall denied;
  const char* call;
  const char* reason;  ///< begins with
  const char* remedy;
};

SyscallRules strict_rules() {
  SyscallRules rules{.base = SyscallProfile::node, .name = "strict", .refuse = {"fork"}};
  rules.write_exec = WriteExec::refused;
  return rules;
}

void expect_rows(const std::vector<Row>& rows, NetworkMode network) {
  for (const Row& row : rows) {
    const DenialText text = describe(row.denied, strict_rules(), network);
    EXPECT_EQ(text.call, row.call);
    EXPECT_THAT(text.reason, StartsWith(row.reason)) << row.call;
    EXPECT_EQ(text.remedy, row.remedy) << row.call;
  }
}

constexpr const char* nothing = "";

TEST(DenialText, TellsOfSocketsByTheirFamilyAndOfWhatWouldAllowThem) {
  expect_rows({{{SYS_socket, EACCES, {AF_INET, SOCK_STREAM, 0}},
                "socket(AF_INET)",
                "routes, pairs and questions for names: no Internet sockets",
                "network = \"loopback\", or \"egress\" for what its list names"},
               {{SYS_socket, EAFNOSUPPORT, {AF_UNIX, SOCK_STREAM, 0}},
                "socket(AF_UNIX)",
                "no Unix sockets",
                nothing},
               {{SYS_socket, EAFNOSUPPORT, {AF_VSOCK, SOCK_STREAM, 0}},
                "socket(AF_VSOCK)",
                "routes, pairs and questions for names",
                nothing},
               {{SYS_socket, EAFNOSUPPORT, {AF_NETLINK, SOCK_RAW, 9}},
                "socket(AF_NETLINK, 3, 9)",
                "routes, pairs and questions for names",
                nothing}},
              NetworkMode::none);
}

TEST(DenialText, TellsTypeAndProtocolWhereTheFamilyIsAllowed) {
  expect_rows({{{SYS_socket, EAFNOSUPPORT, {AF_INET, SOCK_STREAM, 262}},
                "socket(AF_INET, 1, 262)",
                "sockets: TCP and UDP sockets",
                nothing}},
              NetworkMode::loopback);
}

TEST(DenialText, TellsOfNamedDangersThatNothingAllows) {
  expect_rows(
      {{{SYS_mount, EPERM, {}}, "mount", "mounts: the cell's view", nothing},
       {{SYS_unshare, EPERM, {CLONE_NEWUSER | CLONE_NEWNS, 0, 0}},
        "unshare(CLONE_NEWUSER|CLONE_NEWNS)",
        "namespaces: ",
        nothing},
       {{SYS_clone, EPERM, {CLONE_NEWNET, 0, 0}}, "clone(CLONE_NEWNET)", "processes: ", nothing},
       {{SYS_ioctl, EPERM, {0, TIOCSTI, 0}}, "ioctl(TIOCSTI)", "descriptors: ", nothing},
       {{SYS_prctl, EPERM, {PR_SET_MM, 0, 0}}, "prctl(PR_SET_MM)", "self-control: ", nothing}},
      NetworkMode::none);
}

TEST(DenialText, TellsOfCallsThatAProfileMayAdd) {
  expect_rows(
      {{{SYS_mbind, ENOSYS, {}},
        "mbind",
        "in no group of the profile",
        "[profile.strict] allow = [\"mbind\"]"},
       {{SYS_ptrace, EPERM, {}}, "ptrace", "tracing: ", "[profile.strict] allow = [\"ptrace\"]"},
       {{SYS_fork, EPERM, {}},
        "fork",
        "refuse: refused by the admin",
        "taking it out of [profile.strict] refuse"}},
      NetworkMode::none);
}

TEST(DenialText, TellsOfMemoryThatWouldBecomeCode) {
  expect_rows(
      {{{SYS_mmap, EACCES, {0, 0, PROT_WRITE | PROT_EXEC}},
        "mmap(PROT_WRITE|PROT_EXEC)",
        "code: ",
        "write_exec = \"allowed\""},
       {{SYS_memfd_create, EACCES, {}}, "memfd_create", "code: ", "write_exec = \"allowed\""}},
      NetworkMode::none);
}

TEST(DenialText, HasWordsForWhatNobodyHasANameFor) {
  expect_rows({{{2000, ENOSYS, {}}, "system call 2000", "in no group", nothing},
               {{-1, 0, {}}, "other calls", "of too many kinds", nothing},
               {{SYS_socket, EAFNOSUPPORT, {4711, 1, 0}}, "socket(0x1267)", "routes", nothing}},
              NetworkMode::none);
}

// --- every call ----------------------------------------------------------------------------------

struct Server {
  SyscallRules rules;
  NetworkMode network;
};

std::vector<Server> all_servers() {
  std::vector<Server> servers;
  for (const auto base : {SyscallProfile::native, SyscallProfile::node, SyscallProfile::python,
                          SyscallProfile::browser}) {
    for (const auto network : {NetworkMode::none, NetworkMode::loopback, NetworkMode::host}) {
      for (const auto write_exec : {WriteExec::refused, WriteExec::allowed}) {
        servers.push_back({{.base = base, .name = "mine", .write_exec = write_exec}, network});
        servers.push_back(servers.back());
        servers.back().rules.refuse = {"socket",  "socketpair", "mprotect", "fork",     "ptrace",
                                       "shmat",   "chmod",      "ioctl",    "mbind",    "open",
                                       "mknodat", "seccomp",    "fchmodat", "fchmodat2"};
      }
    }
  }
  return servers;
}

std::vector<ArgumentWords> interesting_words(int number) {
  std::vector<ArgumentWords> words = {{}};
  if (!has_reported_words(number)) return words;
  if (number == SYS_socket || number == SYS_socketpair) {
    for (const std::uint32_t family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK}) {
      for (const std::uint32_t type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW}) {
        for (const std::uint32_t protocol : {0, 262}) words.push_back({family, type, protocol});
      }
    }
  }
  if (number == SYS_mmap || number == SYS_mprotect || number == SYS_pkey_mprotect) {
    for (std::uint32_t protection = 0; protection < 8; ++protection) {
      words.push_back({0, 0, protection});
    }
  }
  for (const std::uint32_t flags : {SHM_EXEC, CLONE_NEWUSER, PR_SET_MM, PR_SET_NAME, 04755}) {
    words.push_back({flags, 0, 0});
    words.push_back({0, flags, flags});
    words.push_back({0, 0, flags});
  }
  for (const std::uint32_t request : {TIOCSTI, TCGETS}) words.push_back({0, request, 0});
  return words;
}

// A table takes longer to make than all that is asked of it here, and few are different.
const Result<SyscallTable>& table_of(const Server& server) {
  constexpr std::size_t most_kept = 256;
  using Key = std::tuple<SyscallProfile, WriteExec, NetworkMode, std::vector<std::string>,
                         std::vector<std::string>>;
  static std::map<Key, Result<SyscallTable>> kept;
  const SyscallRules& rules = server.rules;
  const Key key{rules.base, rules.write_exec, server.network, rules.refuse, rules.allow};
  if (const auto known = kept.find(key); known != kept.end()) return known->second;
  if (kept.size() == most_kept) kept.clear();
  return kept.emplace(key, syscall_table(rules, server.network)).first->second;
}

bool is_made(int number, const ArgumentWords& words, const Server& server) {
  const auto& table = table_of(server);
  const SyscallAnswer* answer = table ? find_syscall(*table, *call_name(number)) : nullptr;
  return answer != nullptr && error_of(answer->rules, answer->otherwise, words) == 0;
}

// As an admin would who reads it.
Server follow(Server server, const std::string& remedy, const std::string& call) {
  const auto says = [&](const std::string& words) {
    return remedy.find(words) != std::string::npos;
  };
  if (says("taking it out of [profile.mine] refuse")) std::erase(server.rules.refuse, call);
  if (says("[profile.mine] allow = [\"" + call + "\"]")) server.rules.allow.push_back(call);
  if (says("write_exec = \"allowed\"")) server.rules.write_exec = WriteExec::allowed;
  if (says("network = \"loopback\"")) server.network = NetworkMode::loopback;
  return server;
}

Server with_everything(Server server, const std::string& call) {
  std::erase(server.rules.refuse, call);
  server.rules.write_exec = WriteExec::allowed;
  if (server.network == NetworkMode::none) server.network = NetworkMode::loopback;
  if (never_allowed_because(call).empty()) server.rules.allow.push_back(call);
  return server;
}

void expect_truth(int number, const ArgumentWords& words, const Server& server) {
  const std::string call(*call_name(number));
  const DeniedCall denied{number, EPERM, reported_words(number, words)};
  const DenialText text = describe(denied, server.rules, server.network);
  if (text.remedy.empty()) {
    EXPECT_FALSE(is_made(number, words, with_everything(server, call))) << text.call;
  } else {
    EXPECT_TRUE(is_made(number, words, follow(server, text.remedy, call)))
        << text.call << ": " << text.remedy;
  }
}

TEST(DenialText, NamesForEveryCallWhatIndeedAllowsIt) {
  int denied = 0;
  const std::vector<Server> servers = all_servers();
  for (int number = 0; number < 500; ++number) {
    if (!call_name(number)) continue;
    for (const Server& server : servers) {
      for (const ArgumentWords& words : interesting_words(number)) {
        if (is_made(number, words, server)) continue;
        expect_truth(number, words, server);
        ++denied;
      }
    }
  }
  EXPECT_GT(denied, 5'000);
}

TEST(DenialText, CombinesWhatIsNeededTogether) {
  SyscallRules rules{.base = SyscallProfile::native, .name = "native"};
  rules.write_exec = WriteExec::refused;
  const auto remedy = [&](int number, std::array<std::uint32_t, 3> words) {
    return describe({number, EPERM, words}, rules, NetworkMode::none).remedy;
  };
  const std::string mine = "profile = \"NAME\" with [profile.NAME] base = \"native\", allow = ";
  EXPECT_EQ(remedy(SYS_memfd_create, {}), mine + "[\"memfd_create\"] and write_exec = \"allowed\"");
  EXPECT_EQ(remedy(SYS_pkey_mprotect, {0, 0, PROT_EXEC}),
            mine + "[\"pkey_mprotect\"] and write_exec = \"allowed\"");
  EXPECT_EQ(remedy(SYS_shmat, {0, 0, SHM_EXEC}), mine + "[\"shmat\"] and write_exec = \"allowed\"");
  EXPECT_EQ(remedy(SYS_shmat, {}), mine + "[\"shmat\"]");
  rules.name = "mine";
  rules.refuse = {"socket"};
  EXPECT_EQ(remedy(SYS_socket, {AF_INET, SOCK_STREAM, 0}),
            "taking it out of [profile.mine] refuse and network = \"loopback\", or \"egress\" for "
            "what its list names");
  EXPECT_EQ(remedy(SYS_socket, {AF_NETLINK, SOCK_RAW, 0}),
            "taking it out of [profile.mine] refuse");
  EXPECT_EQ(remedy(SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}), "");
}

}  // namespace
}  // namespace cellblock
