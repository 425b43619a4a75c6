#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/cli/purge/data_places.h"
#include "client/cli/purge/user_data.h"
#include "tests/unit/scratch_directory.h"

// What `cellblock purge --user-data` finds and removes.
namespace cellblock::cli {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class UserData : public testing::Test {
 protected:
  void SetUp() override {
    make_directory("state");
    make_directory("state/homes");
    write("state/homes/file");
    write("state/disabled");
    make_directory("log");
    for (const char* name : {"audit.jsonl", "audit.jsonl.1", "audit.jsonl.old", "other"}) {
      write(std::string("log/") + name);
    }
    make_directory("verified");
    write("verified/anchor");
  }

  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }

  void make_directory(const std::string& name, mode_t mode = 0700) const {
    ASSERT_EQ(::mkdir(path(name).c_str(), mode), 0) << name;
  }

  void write(const std::string& name) const { std::ofstream(path(name)) << "text"; }

  DataPlaces places() const { return {path("state"), path("log/audit.jsonl"), path("verified")}; }

  std::vector<std::string> found() const {
    std::vector<std::string> paths;
    for (const KeptData& kept : kept_data(places()).value()) paths.push_back(kept.path);
    return paths;
  }

  ScratchDirectory scratch_;
};

TEST_F(UserData, AreTheStateTheFilesOfTheLogAndWhatWasVerified) {
  EXPECT_THAT(found(), ElementsAre(path("state"), path("log/audit.jsonl"),
                                   path("log/audit.jsonl.1"), path("verified")));
  const auto state = kept_data(places()).value().front();
  EXPECT_EQ(state.files, 2U);
  EXPECT_GE(state.bytes, 1U);
}

TEST_F(UserData, AreRemovedAndNothingBesideThem) {
  for (const KeptData& kept : kept_data(places()).value()) EXPECT_TRUE(remove_data(kept));
  EXPECT_THAT(found(), IsEmpty());
  EXPECT_FALSE(fs::exists(path("state")));
  EXPECT_TRUE(fs::exists(path("log/other")));
  EXPECT_TRUE(fs::exists(path("log/audit.jsonl.old")));
}

TEST_F(UserData, AreNothingWhereNoDaemonEverRan) {
  EXPECT_THAT(kept_data({path("none"), path("none/log"), ""}).value(), IsEmpty());
  EXPECT_EQ(lock_state(path("none")).value().get(), -1);
}

TEST_F(UserData, OfALogInTheStateDirectoryCountOnce) {
  write("state/audit.jsonl");
  const auto kept = kept_data({path("state"), path("state/audit.jsonl"), ""}).value();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept.front().files, 3U);
}

TEST_F(UserData, BehindALinkStay) {
  fs::create_directory_symlink(path("log"), path("state/homes/link"));
  EXPECT_TRUE(remove_data(kept_data(places()).value().front()));
  EXPECT_TRUE(fs::exists(path("log/other")));
}

TEST_F(UserData, AreNotLookedForInADirectoryThatOthersEnterOrBehindALink) {
  ASSERT_EQ(::chmod(path("state").c_str(), 0755), 0);
  EXPECT_THAT(kept_data(places()).error().text, HasSubstr("is open to others"));
  fs::rename(path("state"), path("moved"));
  fs::create_directory_symlink(path("moved"), path("state"));
  EXPECT_THAT(kept_data(places()).error().text, HasSubstr("is no directory"));
}

TEST_F(UserData, AreLeftAloneWhileADaemonRuns) {
  const auto daemon = lock_state(path("state"));
  ASSERT_TRUE(daemon);
  EXPECT_THAT(lock_state(path("state")).error().text,
              HasSubstr("is in use: cellblockd runs; stop it first"));
}

TEST(DataPlaces, AreThoseOfTheConfigurationElseTheDefaults) {
  const auto none = data_places_in("", "c.toml", FoundBy::place).value();
  EXPECT_EQ(none.state_directory, "/var/lib/cellblock");
  EXPECT_EQ(none.audit_log, "/var/log/cellblock/audit.jsonl");
  EXPECT_EQ(none.anchors, "/var/lib/cellblock-audit");
  const auto named =
      data_places_in("[daemon]\nstate_directory = \"/srv/cells\"\naudit_log = \"/srv/log\"\n",
                     "c.toml", FoundBy::variable)
          .value();
  EXPECT_EQ(named.state_directory, "/srv/cells");
  EXPECT_EQ(named.audit_log, "/srv/log");
  EXPECT_EQ(named.anchors, "");
}

TEST(DataPlaces, AreNotGuessedWhereTheConfigurationCannotBeRead) {
  EXPECT_THAT(data_places_in("[daemon\n", "c.toml", FoundBy::place).error().text,
              HasSubstr("c.toml has errors"));
  EXPECT_THAT(data_places({Mode::system, "/nonexistent/c.toml", FoundBy::variable}).error().text,
              HasSubstr("/nonexistent/c.toml: No such file"));
  EXPECT_TRUE(data_places({Mode::system, "/nonexistent/c.toml", FoundBy::place}));
}

}  // namespace
}  // namespace cellblock::cli
