// A cell without a network: names do not exist for it, at once, and whoever uses it is told which
// one it asked for and what would allow it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr const char* python = "/usr/bin/python3";
constexpr const char* node = "/usr/bin/node";

class Names : public testing::TestWithParam<Mode> {
 protected:
  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
  }

  void start(const char* program, std::string_view script, std::string_view profile,
             std::string_view more = "") {
    const fs::path source = fs::path(CELLBLOCK_SOURCE) / "tests/fixtures" / script;
    const std::string copy = daemon_.directory().path(fmt::format("scripts/{}", script));
    fs::create_directories(fs::path(copy).parent_path());
    fs::copy_file(source, copy);
    daemon_.start({.mode = GetParam(),
                   .servers = server_table(
                       daemon_, "closed", {program, copy},
                       fmt::format("allow = {{ users = [{}], tools = [\"*\"] }}\nread = [\"{}\"]\n"
                                   "profile = \"{}\"\n{}",
                                   daemon_.user().uid, fs::path(copy).parent_path().string(),
                                   profile, more))});
  }

  std::string said_by(std::vector<std::string> arguments) const {
    const auto command = daemon_.command(std::move(arguments));
    command->close_input();
    return command->output().all() + command->errors().all();
  }

  /// What a Python program in the cell prints.
  std::string run(const std::string& program) {
    Host host = daemon_.connect();
    host.open_session("closed");
    return host.call_for_text("run", {{"command", {python, "-c", program}}});
  }

  Daemon daemon_{GetParam()};
};

constexpr const char* url = R"({"url":"https://api.example.com/"})";

TEST_P(Names, DoNotExistForNodesFetchWhoseErrorIsToldTheLineThatWouldAllowThem) {
  if (::access(node, X_OK) != 0) GTEST_SKIP() << "needs " << node;
  start(node, "fetch_server.mjs", "node");
  EXPECT_THAT(
      said_by({"call", "closed", "fetch", url}),
      AllOf(HasSubstr("failed: ENOTFOUND"),
            HasSubstr("network = \"egress\" and egress.allow = [\"api.example.com:443\"]")));
  EXPECT_THAT(said_by({"logs", "closed", "--denied"}),
              AllOf(HasSubstr("resolve api.example.com"),
                    HasSubstr("egress.allow = [\"api.example.com:443\"]")));
  EXPECT_THAT(said_by({"status", "closed"}), HasSubstr("resolve api.example.com"));
}

TEST_P(Names, AreLearnedInOneRun) {
  if (::access(node, X_OK) != 0) GTEST_SKIP() << "needs " << node;
  start(node, "fetch_server.mjs", "node");
  const std::string cellblock = daemon_.directory().path("bin/cellblock");
  EXPECT_THAT(said_by({"learn", "closed", "--", cellblock, "call", "closed", "fetch", url}),
              AllOf(HasSubstr("\nnetwork = \"egress\"  # resolve api.example.com was refused"),
                    HasSubstr("\n[server.closed.egress]\nallow = [\n  \"api.example.com:443\",")));
}

constexpr std::string_view tell_of_sockets = R"(
import errno, socket
def told(family, type, address):
    try:
        with socket.socket(family, type) as s:
            s.settimeout(10); s.connect(address); s.send(b'x'); s.send(b'x')
            return 'sent'
    except OSError as error:
        return errno.errorcode.get(error.errno, 'timeout')
)";

TEST_P(Names, AreAllThatCanBeAskedFor) {
  if (::access(python, X_OK) != 0) GTEST_SKIP() << "needs " << python;
  start(python, "run_server.py", "python");
  const auto told = [this](const std::string& socket) {
    return run(fmt::format("{}print(told({}))", tell_of_sockets, socket));
  };
  EXPECT_EQ(told("socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 53)"), "0: EACCES");
  EXPECT_EQ(told("socket.AF_INET6, socket.SOCK_DGRAM, ('::1', 53)"), "0: EACCES");
  EXPECT_EQ(told("socket.AF_INET, socket.SOCK_DGRAM, ('192.0.2.1', 53)"), "0: ENETUNREACH");
  EXPECT_EQ(told("socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', 54)"), "0: ECONNREFUSED");
  EXPECT_EQ(told("socket.AF_INET, socket.SOCK_DGRAM, ('127.0.0.1', 53)"), "0: sent");
}

TEST_P(Names, AreNotAskedForWhereTheProfileRefusesSockets) {
  if (::access(python, X_OK) != 0) GTEST_SKIP() << "needs " << python;
  start(python, "run_server.py", "closed",
        "[profile.closed]\nbase = \"python\"\nrefuse = [\"socket\"]\n");
  EXPECT_EQ(run("import socket\n"
                "try: socket.getaddrinfo('api.example.com', 443)\n"
                "except socket.gaierror as error: print(error.errno == socket.EAI_AGAIN)\n"),
            "0: True");
  EXPECT_THAT(said_by({"logs", "closed", "--denied"}), testing::Not(HasSubstr("resolve ")));
}

TEST_P(Names, AskedForByTheThousandLeaveTheSessionAnswering) {
  if (::access(python, X_OK) != 0) GTEST_SKIP() << "needs " << python;
  start(python, "run_server.py", "python");
  EXPECT_EQ(run("import socket\n"
                "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                "s.connect(('127.0.0.1', 53))\n"
                "for i in range(20000):\n"
                "    n = b'n%d' % i\n"
                "    s.send(b'\\1\\2\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0' + bytes([len(n)]) + n +"
                " b'\\3org\\0\\0\\1\\0\\1')\n"
                "print('done')"),
            "0: done");
  EXPECT_EQ(run("print('here')"), "0: here");
}

INSTANTIATE_TEST_SUITE_P(Daemon, Names,
                         testing::Values(Mode::system, Mode::user, Mode::user_with_subordinates),
                         name_of_mode);

}  // namespace
}  // namespace cellblock::harness
