// What a server keeps between its cells: nothing in it runs by itself, and it can be removed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/integration/daemon.h"
#include "tests/integration/python_runner.h"

namespace cellblock::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class Home : public testing::TestWithParam<Mode> {
 protected:
  Home() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root";
    if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "needs /usr/bin/python3";
    const std::string script = daemon_.directory().write("server/runner.py", python_runner);
    const std::string program =
        fmt::format("profile = \"python\"\nprogram = \"{}\"\n", daemon_.directory().path("server"));
    // Its own name for the module that a later cell would find in its home first.
    daemon_.directory().write("server/site/runner.py", python_runner);
    daemon_.start(
        {.mode = GetParam(),
         .servers = server_table(daemon_, "script", {"/usr/bin/python3", script}, program) +
                    server_table(daemon_, "module", {"/usr/bin/python3", "-m", "runner"},
                                 program + fmt::format("env = {{ PYTHONPATH = \"{}\" }}\n",
                                                       daemon_.directory().path("server/site")))});
  }

  /// In a cell of its own.
  std::string in_cell(const std::string& server, const std::string& code) {
    Host host = daemon_.connect();
    host.open_session(server);
    return host.call_for_text("run", {{"code", code}});
  }

  json home(const std::string& what, const std::string& server, int exit_code = 0) {
    const auto process = daemon_.command({"--json", "home", what, server});
    const auto status = process->wait();
    EXPECT_TRUE(status && WIFEXITED(*status) && WEXITSTATUS(*status) == exit_code)
        << process->errors().all();
    return json::parse(process->output().all(), nullptr, false);
  }

  void stop_cells(const std::string& server) {
    EXPECT_EQ(daemon_.command({"stop", server})->wait(), 0);
    Host host = daemon_.connect();
    while (true) {
      const json answer = host.request("cellblock/status");
      bool any = false;
      for (const json& one : answer["result"]["servers"]) {
        any = any || (one["name"] == server && !one["cells"].empty());
      }
      if (!any) return;
    }
  }

  Daemon daemon_;
};

INSTANTIATE_TEST_SUITE_P(Modes, Home, testing::Values(Mode::system, Mode::user), name_of_mode);

constexpr const char* plant =
    "import site; d = site.getusersitepackages(); os.makedirs(d)\n"
    "for name in ('usercustomize.py', 'sitecustomize.py'): open(d + '/' + name, 'w').write('')\n";

TEST_P(Home, RunsNothingThatAnEarlierCellHasLeftForPythonToFind) {
  EXPECT_EQ(in_cell("script", plant), "done");
  EXPECT_EQ(in_cell("script", "import sys; said = 'usercustomize' in sys.modules"), "False");
}

TEST_P(Home, HasNoModulesThatComeBeforeInstalledOnes) {
  EXPECT_EQ(in_cell("module", "import sys; open('json.py', 'w').write('from os import *')"),
            "done");
  EXPECT_EQ(in_cell("module", "import json; said = json.__file__.startswith('/usr/')"), "True");
}

TEST_P(Home, IsCountedAndClearedForItsUser) {
  EXPECT_EQ(home("show", "script")["answer"], "none");
  EXPECT_EQ(in_cell("script",
                    "os.makedirs('a/b/c'); open('a/b/c/file', 'w').write('x' * 10000)\n"
                    "os.symlink('/etc', 'a/link'); os.chmod('a/b', 0o500); os.chmod('a', 0)"),
            "done");
  stop_cells("script");
  const json cleared = home("clear", "script");
  EXPECT_EQ(cleared["answer"], "done") << cleared.dump();
  EXPECT_EQ(cleared["files"], 5);
  const json left = home("show", "script");
  EXPECT_EQ(left["files"], 0) << left.dump();
  EXPECT_EQ(in_cell("script", "said = os.listdir('.')"), "[]");
}

TEST_P(Home, OfADeepTreeIsClearedWhole) {
  EXPECT_EQ(
      in_cell("script", "for i in range(2000):\n  os.mkdir('d'); os.chdir('d')\nsaid = 'done'"),
      "done");
  stop_cells("script");
  EXPECT_EQ(home("clear", "script")["files"], 2000);
  EXPECT_EQ(home("show", "script")["files"], 0);
}

TEST_P(Home, IsNotClearedWhileACellIsThere) {
  Host host = daemon_.connect();
  host.open_session("script");
  host.call_for_text("run", {{"code", "open('kept', 'w')"}});
  const json refused = home("clear", "script", 8);
  EXPECT_EQ(refused["answer"], "in_use");
  EXPECT_THAT(refused["reason"].get<std::string>(), HasSubstr("cellblock stop script"));
  EXPECT_EQ(host.call_for_text("run", {{"code", "said = os.listdir('.')"}}), "['kept']");
}

}  // namespace
}  // namespace cellblock::harness
