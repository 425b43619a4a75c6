#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "client/cli/add/add_request.h"
#include "client/cli/add/added_files.h"
#include "client/cli/add/new_server.h"
#include "client/cli/add/running_daemon.h"
#include "client/cli/import/read/bounded_file.h"
#include "client/cli/install/places.h"
#include "client/cli/install/scratch.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

AddPlaces places_below(const std::string& root) {
  return {.mode = Mode::user,
          .main_file = root + "/config/cellblock/cellblock.toml",
          .declarations = root + "/config/cellblock/servers.d",
          .secrets = root + "/config/cellblock/secrets",
          .servers = root + "/share/cellblock/servers"};
}

TEST(AddRequest, RefusesANameThatAnyFileOfTheConfigurationDeclares) {
  const ScratchDirectory scratch;
  const auto files = places_below(scratch.path());
  fs::create_directories(files.declarations);
  ASSERT_TRUE(write_new_file(files.main_file, "[server.mine]\n"));
  ASSERT_TRUE(write_new_file(files.declarations + "/team.toml", "[server.theirs]\n"));
  ASSERT_TRUE(write_new_file(files.declarations + "/broken.toml", "[server"));
  ASSERT_TRUE(write_new_file(files.declarations + "/team.toml.bak", "[server.old]\n"));
  for (const char* name : {"mine", "theirs", "broken"}) {
    const auto refused = refuse_name(files, name);
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().text, HasSubstr("is declared already")) << name;
    EXPECT_THAT(refused.error().text, HasSubstr("choose another name")) << name;
  }
  EXPECT_TRUE(refuse_name(files, "old"));
  EXPECT_TRUE(refuse_name(files, "fresh"));
}

TEST(FailedAddition, LeavesNoFileAndNoDirectory) {
  const ScratchDirectory scratch;
  const std::string root = scratch.path();
  const auto new_places = places_below(root);
  {
    const auto work = Scratch::make(new_places.servers, std::nullopt);
    ASSERT_TRUE(work) << work.error().text;
    AddedFiles files(new_places);
    EXPECT_TRUE(files.make_main_file());
    EXPECT_TRUE(files.add_secret(new_places.secrets + "/files.TOKEN", "hush"));
    EXPECT_TRUE(files.add_directory(new_places.servers + "/files"));
    EXPECT_TRUE(files.add_declaration("files", "# declared\n"));
  }
  EXPECT_TRUE(fs::is_empty(root));
}

TEST(FailedAddition, LeavesDirectoriesThatWereThereOrAreInUse) {
  const ScratchDirectory scratch;
  const std::string root = scratch.path();
  const auto new_places = places_below(root);
  fs::create_directories(new_places.declarations);
  {
    const auto work = Scratch::make(new_places.servers, std::nullopt);
    ASSERT_TRUE(work) << work.error().text;
    AddedFiles files(new_places);
    EXPECT_TRUE(files.add_declaration("files", "# declared\n"));
    fs::create_directory(new_places.servers + "/other");
  }
  EXPECT_TRUE(fs::is_empty(new_places.declarations));
  EXPECT_TRUE(fs::exists(new_places.servers + "/.lock"));
}

TEST(ReloadOutcome, OfADaemonThatCouldNotReloadIsAFailureThatSaysWhatToDo) {
  EXPECT_FALSE(reload_outcome(ProgramOutput{.text = {}, .status = 0}).is_failed);
  const auto failed = reload_outcome(ProgramOutput{.text = "c.toml:3: error\n", .status = 1});
  EXPECT_TRUE(failed.is_failed);
  EXPECT_THAT(failed.words, HasSubstr("goes on with the configuration from before"));
  EXPECT_THAT(failed.words, HasSubstr("`cellblock reload`:\nc.toml:3: error"));
  EXPECT_TRUE(reload_outcome(fail("no such program")).is_failed);
}

TEST(ChosenLines, KeepWhatSomebodyDecidesBy) {
  EXPECT_EQ(chosen_lines("files: what it can see\n  runs          node\n                more\n"
                         "  files         reads /usr\n                writes /x\n"
                         "  limits        none\n  weakened      in nothing\n"),
            "  files         reads /usr\n                writes /x\n  weakened      in nothing\n");
}

}  // namespace
}  // namespace cellblock::cli
