#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/programs/installation.h"
#include "policy/base/build_id.h"
#include "tests/unit/scratch_directory.h"
#include "tests/unit/subprocess.h"

// `cellblock` is small; `cellblock-tools` carries out what needs many libraries.
namespace cellblock::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Lines = std::vector<std::string>;

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> bytes{};
  while (const auto count = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    text.append(bytes.data(), count);
  }
  ::pclose(pipe);
  return text;
}

// The C and C++ libraries, and what a compiler adds for its sanitizers.
bool is_of_compiler(const std::string& library) {
  for (const char* name :
       {"libc.", "libm.", "libstdc++.", "libgcc_s.", "ld-linux", "libasan.", "libubsan.",
        "libtsan.", "libresolv.", "librt.", "libdl.", "libpthread."}) {
    if (library.starts_with(name)) return true;
  }
  return false;
}

// "libfmt", of "libfmt.so.9".
std::set<std::string> libraries_of(const std::string& program) {
  std::set<std::string> libraries;
  const auto text = output_of("readelf -d " + program);
  constexpr std::string_view before = "Shared library: [";
  for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    const auto begin = at + before.size();
    const auto name = text.substr(begin, text.find(']', begin) - begin);
    if (!is_of_compiler(name)) libraries.insert(name.substr(0, name.find(".so")));
  }
  return libraries;
}

TEST(CellblockProgram, LinksFourLibraries) {
  if (output_of("command -v readelf").empty()) GTEST_SKIP() << "binutils are not installed";
  EXPECT_THAT(libraries_of(CELLBLOCK_CLI),
              ElementsAre("libcellblock-client", "libfmt", "libsimdjson", "libtomlplusplus"));
}

/// Words that end at once, and how.
struct Attempt {
  Lines words;
  int exit_code;
  std::string said;  ///< on stderr
};

// Each reaches what cellblock-tools does, which finds no daemon, no file, or nobody to ask.
const std::map<cli::Tool, std::vector<Attempt>> attempts{
    {cli::Tool::add, {{{"add", "x", "--allow", "root", "--", "true"}, 1, "nobody can be asked"}}},
    {cli::Tool::added_list, {{{"servers"}, 0, "no server was added"}}},
    {cli::Tool::added_removal, {{{"remove", "x"}, 4, "was not added"}}},
    {cli::Tool::added_update,
     {{{"update"}, 1, "nobody can be asked"}, {{"update", "x"}, 4, "was not added"}}},
    {cli::Tool::audit_verify,
     {{{"audit", "verify", "--log", "/nonexistent/log"}, 1, "/nonexistent"}}},
    {cli::Tool::authorize, {{{"auth", "x"}, 4, "was not added"}}},
    {cli::Tool::purge, {{{"--user", "purge", "--user-data"}, 1, "purge is root's"}}},
    {cli::Tool::connect_by_line, {{{"run", "--", "/nonexistent/server"}, 4, "was not added"}}},
    {cli::Tool::doctor, {{{"--user", "doctor"}, 1, "root has the system's cells"}}},
    {cli::Tool::export_to_host,
     {{{"export", "zed"}, 6, "socket /nonexistent/x.sock: No such file"}}},
    {cli::Tool::import_from_host, {{{"import", "/nonexistent/file"}, 1, "/nonexistent/file"}}},
    {cli::Tool::inspect,
     {{{"inspect", "x", "tools"}, 6, "socket /nonexistent/x.sock: No such file"}}},
    {cli::Tool::learn, {{{"learn", "x"}, 6, "socket /nonexistent/x.sock: No such file"}}},
    {cli::Tool::scan, {{{"scan", "--against", "/nonexistent/file"}, 1, "/nonexistent/file"}}},
    {cli::Tool::setup, {{{"--system", "setup"}, 1, "as an ordinary user"}}},
    {cli::Tool::ui,
     {{{"ui", "--listen", "/nonexistent/x/y"}, 1, "/nonexistent/x/y: No such file"}}},
    {cli::Tool::watch,
     {{{"status", "--watch", "--once"}, 6, "socket /nonexistent/x.sock: No such file"},
      {{"status", "--watch"}, 2, "no terminal"},
      {{"top", "--once"}, 6, "socket /nonexistent/x.sock: No such file"}}}};

void for_each_command(const cli::Command& command,
                      const std::function<void(const cli::Command&)>& take) {
  take(command);
  for (const auto& below : command.below) for_each_command(below, take);
}

TEST(CellblockProgram, HasEveryCommandOfTheTableCarriedOut) {
  const ScratchDirectory scratch;
  ::setenv("CELLBLOCK_CONFIG", (scratch.path() + "/cellblock.toml").c_str(),
           1);  // NOLINT(concurrency-mt-unsafe)
  for_each_command(cli::program(), [](const cli::Command& command) {
    if (command.tool == cli::Tool::none) return;
    // It makes a cell where it may.
    if (command.tool == cli::Tool::doctor && ::geteuid() != 0) return;
    ASSERT_TRUE(attempts.contains(command.tool)) << command.name;
    for (const auto& attempt : attempts.at(command.tool)) {
      Lines words{CELLBLOCK_CLI, "--socket", "/nonexistent/x.sock"};
      words.insert(words.end(), attempt.words.begin(), attempt.words.end());
      const auto ended = run(words);
      EXPECT_EQ(ended.exit_code, attempt.exit_code) << command.name << ": " << ended.err;
      EXPECT_THAT(ended.err, HasSubstr(attempt.said)) << command.name;
    }
  });
}

TEST(CellblockTools, SaysOfOtherCommandsWhoseTheyAre) {
  const auto ended = run({CELLBLOCK_TOOLS, "call", "x", "y"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("\"call\" is a command of `cellblock` alone"));
}

/// A copy of the build's programs, without cellblock-tools at first.
class CopiedPrograms : public ::testing::Test {
 protected:
  CopiedPrograms() {
    const auto built = fs::path(CELLBLOCK_CLI).parent_path();
    for (const auto& entry : fs::directory_iterator(built)) {
      const auto name = entry.path().filename().string();
      const bool is_library = name.starts_with("libcellblock-client.so");
      if (name == "cellblock" || is_library) fs::copy(entry.path(), path(name));
    }
  }

  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }

  Subprocess::Ended export_to_host() const {
    return run({path("cellblock"), "--socket", "/nonexistent/x.sock", "export", "zed"});
  }

  ScratchDirectory scratch_;
};

TEST_F(CopiedPrograms, SayWhereCellblockToolsIsMissing) {
  const auto ended = export_to_host();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, AllOf(HasSubstr(path("cellblock-tools") + ": No such file or directory"),
                               HasSubstr("of the same build: install both together")));
}

TEST_F(CopiedPrograms, ExecuteTheCellblockToolsBesideThem) {
  fs::copy(CELLBLOCK_TOOLS, path("cellblock-tools"));
  EXPECT_EQ(export_to_host().exit_code, 6);
}

TEST_F(CopiedPrograms, ExecuteNoOtherProgramOfThatName) {
  scratch_.write("cellblock-tools", "#!/bin/sh\necho executed\n", 0755);
  const auto ended = export_to_host();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.out, "");
  EXPECT_THAT(ended.err, HasSubstr("it is no program of cellblock's"));
}

TEST_F(CopiedPrograms, ExecuteNoCellblockToolsOfAnotherBuild) {
  fs::copy(CELLBLOCK_TOOLS, path("cellblock-tools"));
  std::fstream file(path("cellblock-tools"), std::ios::binary | std::ios::in | std::ios::out);
  std::string head(build_id_within, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto id = build_id_in(head).value_or("");
  ASSERT_NE(id, "");
  file.seekp(static_cast<std::streamoff>(head.find(id)));
  file.put('9');
  file.close();
  const auto ended = export_to_host();
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("it is of build 9" + id.substr(1) + ", and this is " + id));
}

TEST(Installation, OfABuildTreeIsOneDirectory) {
  const auto tree = cli::build_tree_of("/build/bin/cellblock");
  EXPECT_EQ(tree.command, "/build/bin/cellblock");
  EXPECT_EQ(tree.daemon, "/build/bin/cellblockd");
  EXPECT_EQ(tree.tools, "/build/bin/cellblock-tools");
  EXPECT_EQ(tree.recipes, "/build/share/cellblock/recipes");
}

TEST(Installation, IsTheSameForBothOfItsPrograms) {
  const auto one = cli::installation_of("/opt/x/bin/cellblock");
  const auto other = cli::installation_of(one.tools);
  EXPECT_EQ(other.command, "/opt/x/bin/cellblock");
  EXPECT_EQ(other.daemon, one.daemon);
  EXPECT_EQ(other.tools, one.tools);
  EXPECT_EQ(other.recipes, one.recipes);
  EXPECT_TRUE(one.daemon.starts_with("/opt/x/")) << one.daemon;
  EXPECT_TRUE(one.tools.ends_with("/cellblock/cellblock-tools")) << one.tools;
}

}  // namespace
}  // namespace cellblock::testing
