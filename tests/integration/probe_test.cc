// `cellblock probe SERVER`: cellblock's own attempts, in a cell that is else the server's.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Probe : public testing::TestWithParam<Mode> {
 protected:
  void start(std::string_view more) {
    daemon_.start({.mode = GetParam(),
                   .servers = server_of_build(daemon_, "probed", "recording_server", {}, more),
                   .results = ""});
  }

  /// A session with the probe in the cell of that server.
  Host attach() {
    Host host = daemon_.connect();
    const json attached = host.request("cellblock/attach", {{"server", "probed"}, {"probe", true}});
    EXPECT_TRUE(attached.contains("result")) << attached.dump();
    const json greeting = {{"protocolVersion", "2025-06-18"},
                           {"capabilities", json::object()},
                           {"clientInfo", {{"name", "test"}, {"version", "1"}}}};
    const json greeted = host.request("initialize", greeting);
    EXPECT_EQ(greeted["result"]["serverInfo"]["name"], "cellblock-probe") << greeted.dump();
    return host;
  }

  json run(const json& arguments = json::object()) {
    Host host = attach();
    const json answer = host.call("run", arguments);
    return answer["result"]["structuredContent"];
  }

  Daemon daemon_{GetParam()};
};

TEST_P(Probe, FindsNothingOpenThatIsNotDeclared) {
  start("");
  const json found = run();
  EXPECT_GT(found["attempts"].size(), 200U);
  for (const json& attempt : found["attempts"]) {
    EXPECT_NE(attempt["verdict"], "unexpected") << attempt.dump();
  }
}

TEST_P(Probe, SaysWhatTheDeclarationOpens) {
  start("network = \"loopback\"\n");
  const json found = run({{"only", {"tcp_socket"}}});
  ASSERT_EQ(found["attempts"].size(), 1U) << found.dump();
  EXPECT_EQ(found["attempts"][0]["verdict"], "declared");
  EXPECT_EQ(found["attempts"][0]["declared_by"], "network = \"loopback\"");
}

TEST_P(Probe, WritesNothingIntoTheHomeThatTheServerKeeps) {
  start("");
  const json found = run({{"only", {"run_from_home"}}});
  EXPECT_EQ(found["attempts"][0]["verdict"], "held") << found.dump();
  EXPECT_FALSE(std::filesystem::exists(daemon_.directory().path("state/home/probed")));
}

std::string environment_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(Probe, GetsAMarkerWhereTheServerHasASecret) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: to look into a process of a cell";
  const std::string file = daemon_.directory().write("token", "very-secret-4711", 0600);
  start(fmt::format("env_from_file = {{ TOKEN = \"{}\" }}\n", file));
  const Host host = attach();
  const auto probes = daemon_.processes_named("cellblock-probe");
  std::string seen;
  for (const int pid : probes) seen += environment_of(pid);
  EXPECT_THAT(seen, HasSubstr("TOKEN=cellblock-probe-marker"));
  EXPECT_THAT(seen, Not(HasSubstr("very-secret-4711")));
}

INSTANTIATE_TEST_SUITE_P(As, Probe, testing::Values(Mode::system, Mode::user), name_of_mode);

}  // namespace
}  // namespace cellblock::harness
