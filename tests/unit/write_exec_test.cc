#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "supervisor/seccomp/seccomp_filter.h"
#include "tests/unit/filtered_child.h"

namespace cellblock::launcher {
namespace {

using testing_support::answer_under;
using testing_support::end_under;

FilterProgram filter_for(SyscallProfile profile, WriteExec write_exec) {
  SyscallRules rules{.base = profile};
  rules.write_exec = write_exec;
  auto filter = compile_filter(rules, NetworkMode::none);
  EXPECT_TRUE(filter.has_value()) << (filter ? "" : filter.error().text);
  return filter.value_or(FilterProgram{});
}

FilterProgram strict(SyscallProfile profile) { return filter_for(profile, WriteExec::refused); }

long map(int protection) {
  void* memory = ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? -1 : 0;
}

long become_code() {
  void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return ::mprotect(memory, 4096, PROT_READ | PROT_EXEC);
}

long open_memory() { return ::memfd_create("code", MFD_CLOEXEC); }

class WriteExecFilter : public testing::TestWithParam<SyscallProfile> {};

TEST_P(WriteExecFilter, LetsNoMemoryBeWrittenAndExecuted) {
  const FilterProgram closed = strict(GetParam());
  const FilterProgram open = filter_for(GetParam(), WriteExec::allowed);
  const auto both = [] { return map(PROT_READ | PROT_WRITE | PROT_EXEC); };
  EXPECT_EQ(answer_under(open, both), "allowed");
  EXPECT_EQ(answer_under(closed, both), "EACCES");
  EXPECT_EQ(answer_under(open, become_code), "allowed");
  EXPECT_EQ(answer_under(closed, become_code), "EACCES");
  EXPECT_EQ(answer_under(closed, [] { return map(PROT_READ | PROT_WRITE); }), "allowed");
  EXPECT_EQ(answer_under(closed, [] { return map(PROT_READ | PROT_EXEC); }), "allowed");
}

INSTANTIATE_TEST_SUITE_P(EveryProfile, WriteExecFilter,
                         testing::Values(SyscallProfile::native, SyscallProfile::node,
                                         SyscallProfile::python));

TEST(RefusedWriteExec, LetsNoFileInMemoryBeMadeThatIsMappedTwice) {
  EXPECT_EQ(answer_under(filter_for(SyscallProfile::python, WriteExec::allowed), open_memory),
            "allowed");
  EXPECT_EQ(answer_under(strict(SyscallProfile::python), open_memory), "EACCES");
}

// --- programs ------------------------------------------------------------------------------------

std::string end_of_program(const FilterProgram& filter, std::vector<const char*> arguments,
                           const char* input = "") {
  if (::access(arguments[0], X_OK) != 0) return "missing";
  arguments.push_back(nullptr);
  return end_under(filter, [&] {
    int pipe[2];
    if (::pipe(pipe) != 0 || ::write(pipe[1], input, std::strlen(input)) < 0) return 126;
    ::dup2(pipe[0], STDIN_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::close(pipe[1]);
    ::execv(arguments[0], const_cast<char* const*>(arguments.data()));
    return 127;
  });
}

TEST(RefusedWriteExec, RunsNativePrograms) {
  EXPECT_EQ(end_of_program(strict(SyscallProfile::native),
                           {"/bin/sh", "-c", "ls -l / | sort | grep -q usr"}),
            "exit 0");
}

// An extension in C, and ctypes with a callback, for which libffi makes code at run time where it
// may.
constexpr const char* python_script =
    "import json, ssl, asyncio, ctypes, zlib, _decimal\n"
    "kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)\n"
    "assert kind(lambda number: number + 1)(41) == 42\n"
    "assert ctypes.CDLL(None).abs(-3) == 3\n"
    "asyncio.run(asyncio.sleep(0))\n";

TEST(RefusedWriteExec, RunsPython) {
  const auto end =
      end_of_program(strict(SyscallProfile::python), {"/usr/bin/python3", "-c", python_script});
  if (end == "missing") GTEST_SKIP() << "python3 is not installed";
  EXPECT_EQ(end, "exit 0");
}

TEST(RefusedWriteExec, RunsNodeWithoutItsCompilerOnly) {
  const FilterProgram filter = strict(SyscallProfile::node);
  const auto end = end_of_program(filter, {"/usr/bin/node", "--jitless", "-e", "JSON.parse('{}')"});
  if (end == "missing") GTEST_SKIP() << "node is not installed";
  EXPECT_EQ(end, "exit 0");
  EXPECT_NE(end_of_program(filter, {"/usr/bin/node", "-e", "JSON.parse('{}')"}), "exit 0");
}

constexpr const char* a_session =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",)"
    R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})"
    "\n"
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
    "\n"
    R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"
    "\n";

TEST(RefusedWriteExec, RunsAServerOnNodeWithoutItsCompiler) {
  const char* server = FIXTURES "/server-filesystem/dist/index.js";
  if (::access(server, R_OK) != 0) GTEST_SKIP() << "the fixtures are not installed";
  const auto end = end_of_program(strict(SyscallProfile::node),
                                  {"/usr/bin/node", "--jitless", server, "/tmp"}, a_session);
  if (end == "missing") GTEST_SKIP() << "node is not installed";
  EXPECT_EQ(end, "exit 0");
}

}  // namespace
}  // namespace cellblock::launcher
