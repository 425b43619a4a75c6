#include "policy/base/user_directory.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cellblock {
namespace {

/// The environment and the user database as a test has them.
class UserDirectories : public ::testing::Test {
 protected:
  UserDirectories() { variables().clear(); }
  static std::map<std::string, std::string>& variables() {
    static std::map<std::string, std::string> all;
    return all;
  }
  static std::string variable(const char* name) { return variables()[name]; }

  const UserEnvironment known_{.variable = variable,
                               .account_home = [] { return std::string("/acc"); }};
  const UserEnvironment unknown_{.variable = variable,
                                 .account_home = [] { return std::string(); }};
};

TEST_F(UserDirectories, AreThoseThatTheEnvironmentNames) {
  variables() = {{"XDG_CONFIG_HOME", "/c"}, {"XDG_STATE_HOME", "/s"}, {"XDG_DATA_HOME", "/d"}};
  EXPECT_EQ(user_directory(configuration_home, known_), "/c");
  EXPECT_EQ(user_directory(state_home, known_), "/s");
  EXPECT_EQ(user_directory(data_home, known_), "/d");
}

TEST_F(UserDirectories, AreBelowTheHomeOtherwise) {
  variables() = {{"HOME", "/h"}};
  EXPECT_EQ(user_directory(configuration_home, known_), "/h/.config");
  EXPECT_EQ(user_directory(state_home, known_), "/h/.local/state");
  EXPECT_EQ(user_directory(data_home, known_), "/h/.local/share");
}

TEST_F(UserDirectories, AreBelowTheAccountsHomeWithoutHome) {
  EXPECT_EQ(user_directory(state_home, known_), "/acc/.local/state");
  EXPECT_EQ(user_home(known_), "/acc");
}

TEST_F(UserDirectories, IgnoreRelativePaths) {
  variables() = {{"XDG_STATE_HOME", "state"}, {"HOME", "home"}};
  EXPECT_EQ(user_directory(state_home, known_), "/acc/.local/state");
}

TEST_F(UserDirectories, AreNoneWithoutAnyHome) {
  EXPECT_EQ(user_directory(state_home, unknown_), "");
  EXPECT_EQ(user_home(unknown_), "");
}

}  // namespace
}  // namespace cellblock
