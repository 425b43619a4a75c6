#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/host_files/host_change.h"
#include "client/cli/host_files/host_entries.h"
#include "client/cli/host_files/host_file.h"
#include "client/cli/host_files/host_text.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::cli {
namespace {

using Texts = std::vector<std::string>;

Texts names_in(std::string_view text) {
  Texts names;
  const auto entries = host_entries(text);
  if (!entries) return {entries.error().text};
  for (const auto& entry : *entries) names.push_back(entry.name());
  return names;
}

const Texts arguments = {"connect", "files"};

// ---- each format ----

struct Format {
  const char* name;
  std::string_view text;
  Texts path;
  std::string_view after;
};

constexpr std::string_view claude_text = R"({
  "numStartups": 3,
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "x"],
      "env": {"TOKEN": "s"},
      "timeout": 5
    },
    "other": {"command": "o"}
  }
}
)";

const Format formats[] = {
    {"Claude Code, Cursor, Gemini CLI, Windsurf, Cline",
     claude_text,
     {"mcpServers", "files"},
     R"({
  "numStartups": 3,
  "mcpServers": {
    "files": {
      "type": "stdio",
      "command": "cellblock",
      "args": [
        "connect",
        "files"
      ],
      "timeout": 5
    },
    "other": {"command": "o"}
  }
}
)"},
    {"a project of Claude Code's",
     R"({"projects": {"/p": {"mcpServers": {"files": {"command": "npx", "args": ["x"]}}}}})",
     {"projects", "/p", "mcpServers", "files"},
     R"({"projects": {"/p": {"mcpServers": {"files": {"command":"cellblock","args":["connect","files"]}}}}})"},
    {"VS Code, with comments and last commas",
     "// mine\n{\n\t\"servers\": {\n\t\t// the files\n\t\t\"files\": {\n\t\t\t\"command\": "
     "\"npx\",\n\t\t},\n\t}, /* end */\n}\n",
     {"servers", "files"},
     "// mine\n{\n\t\"servers\": {\n\t\t// the files\n\t\t\"files\": {\n\t\t\t\"command\": "
     "\"cellblock\",\n\t\t\t\"args\": "
     "[\n\t\t\t\t\"connect\",\n\t\t\t\t\"files\"\n\t\t\t]\n\t\t},\n\t}, /* end */\n}\n"},
    {"settings of VS Code",
     R"({"mcp": {"servers": {"files": {"command": "npx"}}}})",
     {"mcp", "servers", "files"},
     R"({"mcp": {"servers": {"files": {"command":"cellblock","args":["connect","files"]}}}})"},
    {"Zed, an older form",
     R"({"context_servers": {"files": {"command": {"path": "npx", "args": ["x"], "env": {"A": "b"}}, "settings": {}}}})",
     {"context_servers", "files"},
     R"({"context_servers": {"files": {"command":"cellblock","settings":{},"args":["connect","files"]}}})"},
    {"Codex",
     "model = \"m\" # best\n\n[mcp_servers.files] # the files\ncommand = \"npx\"\nrequired = true "
     "# yes\nargs = [\n  \"-y\", # one\n  "
     "\"x\",\n]\nenv = { TOKEN = \"s\" }\n\n# of the other\n[mcp_servers.other]\ncommand = \"o\"\n",
     {"mcp_servers", "files"},
     "model = \"m\" # best\n\n[mcp_servers.files] # the files\ncommand = \"cellblock\"\nargs = "
     "[\"connect\", \"files\"]\nenv_vars = "
     "[\"XDG_RUNTIME_DIR\"]\nrequired = true # yes\n\n# of the other\n[mcp_servers.other]\ncommand "
     "= \"o\"\n"},
    {"Codex, with a table of variables and no last newline",
     "[mcp_servers.\"files\"]\ncommand = \"npx\"\n[mcp_servers.files.env]\nTOKEN = "
     "\"s\"\n[mcp_servers.files.tools.a]\nx = 1",
     {"mcp_servers", "files"},
     "[mcp_servers.\"files\"]\ncommand = \"cellblock\"\nargs = [\"connect\", \"files\"]\nenv_vars "
     "= "
     "[\"XDG_RUNTIME_DIR\"]\n[mcp_servers.files.tools.a]\nx = 1"},
};

TEST(HostFiles, HaveOneEntryChangedAndAllElseAsItWas) {
  for (const auto& format : formats) {
    const auto after = connected_text(format.text, {{format.path, arguments}});
    ASSERT_TRUE(after) << format.name << ": " << after.error().text;
    EXPECT_EQ(*after, format.after) << format.name;
  }
}

TEST(HostFiles, HaveTheSameBytesAfterTheyWereChangedAndRestored) {
  for (const auto& format : formats) {
    const auto after = connected_text(format.text, {{format.path, arguments}});
    ASSERT_TRUE(after) << format.name;
    EXPECT_EQ(restored_text(*after, format.text), std::string(format.text)) << format.name;
  }
}

TEST(HostFiles, AreNotChangedTwice) {
  for (const auto& format : formats) {
    const auto entries = host_entries(format.after);
    ASSERT_TRUE(entries) << format.name;
    EXPECT_TRUE(is_cellblock(entries->front().value)) << format.name;
  }
}

TEST(HostFiles, KeepWhatTheHostWroteBetweenChangeAndRestoration) {
  auto after = *connected_text(claude_text, {{{"mcpServers", "files"}, arguments}});
  after.replace(after.find(": 3"), 3, ": 4");
  std::string expected(claude_text);
  expected.replace(expected.find(": 3"), 3, ": 4");
  EXPECT_EQ(restored_text(after, claude_text), expected);
}

TEST(HostFiles, TellWhatComesBackBeforeItDoes) {
  const auto after = *connected_text(claude_text, {{{"mcpServers", "files"}, arguments}});
  const auto entries = restored_entries(after, claude_text);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1U);
  EXPECT_EQ(command_of_entry(entries->front().value), (Texts{"npx", "-y", "x"}));
  EXPECT_TRUE(restored_entries(claude_text, claude_text)->empty());
}

TEST(HostFiles, KeepAnEntryThatWasCellblocksBefore) {
  constexpr std::string_view both =
      R"({"mcpServers": {"a": {"command": "cellblock", "args": ["connect", "a"]}}})";
  EXPECT_EQ(restored_text(both, both), std::string(both));
}

TEST(HostFiles, LoseNoComment) {
  constexpr std::string_view text = "{\"servers\": {\"files\": {\n// why\n\"command\": \"npx\"}}}";
  const auto after = connected_text(text, {{{"servers", "files"}, arguments}});
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().text, "files: it has a comment in it, which would be lost");
}

TEST(HostFiles, AreLeftAloneWhereTheirTextCannotBeTakenApart) {
  // What looks like a header stands in a text; variables have dotted keys.
  for (const std::string_view text :
       {"[mcp_servers.files]\ncommand = \"npx\"\nnote = '''\n[x]\n'''\nargs = [\"a\"]\n",
        "[mcp_servers.files]\ncommand = \"npx\"\nenv.TOKEN = \"s\"\nenv.OTHER = \"t\"\n"}) {
    EXPECT_FALSE(connected_text(text, {{{"mcp_servers", "files"}, arguments}})) << text;
  }
}

TEST(HostFiles, AreReadInAllForms) {
  EXPECT_EQ(names_in(claude_text), (Texts{"files", "other"}));
  EXPECT_EQ(
      names_in(R"({"a": [{"mcpServers": {"no": {}}}], "x": "\"}{", "servers": {"b": {}, "c": 1}})"),
      Texts{"b"});
  EXPECT_EQ(names_in("[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.a.env]\nb = \"c\"\n"),
            Texts{"a"});
}

TEST(HostFiles, ThatAreNoneAreRefused) {
  EXPECT_FALSE(host_entries("{\"mcpServers\": {"));
  EXPECT_FALSE(host_entries("no = "));
}

// ---- on disk ----

class HostFileOnDisk : public testing::Test {
 protected:
  std::string path(const char* name) const { return directory_.path() + "/" + name; }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  static std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

 private:
  ScratchDirectory directory_;
};

TEST_F(HostFileOnDisk, KeepsItsModeAndLeavesNothingBeside) {
  const auto file = write("a.json", "old");
  ::chmod(file.c_str(), 0640);
  ASSERT_TRUE(replace_own_file(file, "old", "new"));
  struct stat status{};
  ::stat(file.c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  EXPECT_EQ(read(file), "new");
  EXPECT_FALSE(std::filesystem::exists(file + ".cellblock-new"));
}

TEST_F(HostFileOnDisk, StaysWhenItsHostHasWrittenMeanwhile) {
  const auto file = write("a.json", "newer");
  EXPECT_FALSE(replace_own_file(file, "old", "new"));
  EXPECT_EQ(read(file), "newer");
}

TEST_F(HostFileOnDisk, IsNoLinkAndNoDirectoryAndHasOneName) {
  const auto file = write("a.json", "{}");
  std::filesystem::create_symlink(file, path("link"));
  EXPECT_TRUE(own_file(path("link")).error().text.contains("it is a link"));
  EXPECT_TRUE(own_file(path("")).error().text.contains("no regular file"));
  std::filesystem::create_hard_link(file, path("hard"));
  EXPECT_TRUE(own_file(file).error().text.contains("second name"));
}

TEST_F(HostFileOnDisk, IsTheUsersOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  const auto file = write("a.json", "{}");
  ASSERT_EQ(::chown(file.c_str(), 4242, 4242), 0);
  EXPECT_TRUE(own_file(file).error().text.contains("another user"));
}

// ---- the old text ----

// NOLINTBEGIN(concurrency-mt-unsafe): one thread
class HostBackup : public HostFileOnDisk {
 protected:
  HostBackup() { ::setenv("XDG_STATE_HOME", path("state").c_str(), 1); }
  ~HostBackup() override { ::unsetenv("XDG_STATE_HOME"); }

  static unsigned mode_of(const std::string& path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
  }
};

TEST_F(HostBackup, IsInTheStateDirectoryAndForItsUserAlone) {
  const auto file = write("a.json", "{}");
  ASSERT_TRUE(write_backup(file, "a \"secret\"\n"));
  const auto backup = *backup_of(file);
  const auto digits = std::filesystem::path(backup).stem().string();
  EXPECT_EQ(digits.size(), 64U);
  EXPECT_EQ(backup, path("state/cellblock/hosts/") + digits + ".json");
  EXPECT_EQ(mode_of(backup), 0600U);
  EXPECT_EQ(mode_of(path("state/cellblock/hosts")), 0700U);
  EXPECT_EQ(mode_of(path("state/cellblock")), 0700U);
  EXPECT_EQ(read_backup(file), "a \"secret\"\n");
  EXPECT_TRUE(read(backup).contains(file));
}

TEST_F(HostBackup, IsBelowHomeWhereNothingElseIsNamed) {
  const char* home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("XDG_STATE_HOME", "relative", 1);
  ::setenv("HOME", path("home").c_str(), 1);
  EXPECT_TRUE(backup_of("/a.json")->starts_with(path("home/.local/state/cellblock/hosts/")));
  ::unsetenv("HOME");
  const auto* account = ::getpwuid(::geteuid());
  ASSERT_NE(account, nullptr);
  EXPECT_TRUE(backup_of("/a.json")->starts_with(std::string(account->pw_dir) + "/.local/state/"));
  ::setenv("HOME", before.c_str(), 1);
}
// NOLINTEND(concurrency-mt-unsafe)

TEST_F(HostBackup, LeavesNothingWhenItIsRemoved) {
  const auto file = write("a.json", "{}");
  EXPECT_FALSE(has_backup(file));
  EXPECT_FALSE(read_backup(file));
  ASSERT_TRUE(remove_backup(file));
  ASSERT_TRUE(write_backup(file, "{}"));
  EXPECT_TRUE(has_backup(file));
  ASSERT_TRUE(remove_backup(file));
  EXPECT_FALSE(has_backup(file));
  EXPECT_TRUE(std::filesystem::is_empty(path("state/cellblock/hosts")));
}

TEST_F(HostBackup, IsTheSameThroughALinkedDirectoryAndAnotherForAnotherFile) {
  std::filesystem::create_directory(path("real"));
  std::filesystem::create_directory_symlink(path("real"), path("linked"));
  EXPECT_EQ(*backup_of(path("real/a.json")), *backup_of(path("linked/a.json")));
  EXPECT_NE(*backup_of(path("real/a.json")), *backup_of(path("real/b.json")));
}

TEST_F(HostBackup, BesideTheFileIsNone) {
  const auto file = write("a.json", "{}");
  write("a.json.cellblock-backup", R"({"mcpServers": {"x": {"command": "evil"}}})");
  EXPECT_FALSE(has_backup(file));
}

TEST_F(HostBackup, IsNeitherReadNorWrittenThroughLinks) {
  const auto file = write("a.json", "{}");
  std::filesystem::create_directories(path("state/cellblock"));
  ::chmod(path("state/cellblock").c_str(), 0700);  // whatever the umask is
  std::filesystem::create_directories(path("elsewhere"));
  std::filesystem::create_directory_symlink(path("elsewhere"), path("state/cellblock/hosts"));
  EXPECT_FALSE(write_backup(file, "{}"));
  EXPECT_TRUE(std::filesystem::is_empty(path("elsewhere")));
  std::filesystem::remove(path("state/cellblock/hosts"));
  ASSERT_TRUE(write_backup(file, "{}"));
  ASSERT_TRUE(remove_backup(file));
  std::filesystem::create_symlink(write("other.json", R"({"text": "x"})"), *backup_of(file));
  EXPECT_TRUE(read_backup(file).error().text.contains("it is a link"));
}

TEST_F(HostBackup, IsNotKeptWhereOthersMayWrite) {
  const auto file = write("a.json", "{}");
  std::filesystem::create_directories(path("state/cellblock"));
  ::chmod(path("state/cellblock").c_str(), 0777);
  EXPECT_TRUE(write_backup(file, "{}").error().text.contains("others may write into it"));
}

TEST(HostPlaces, AreOfTheUserAndOfTheProject) {
  const auto places = host_places("/home/a", "/src");
  EXPECT_EQ(places.front().path, "/home/a/.claude.json");
  EXPECT_EQ(places.back().path, "/src/.gemini/settings.json");
  EXPECT_LT(host_places("/home/a", "/home/a").size(), places.size());
}

}  // namespace
}  // namespace cellblock::cli
