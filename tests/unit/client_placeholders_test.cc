#include <gtest/gtest.h>

#include "policy/sandbox/environment_rules.h"

namespace cellblock {
namespace {

const ClientNames alice{1001, "alice"};

TEST(ClientPlaceholders, StandForWhoHasConnected) {
  EXPECT_EQ(fill_in("${client.user}", alice), "alice");
  EXPECT_EQ(fill_in("u=${client.uid},n=${client.user}${client.uid}", alice), "u=1001,n=alice1001");
}

TEST(ClientPlaceholders, LeaveEveryOtherDollarAlone) {
  for (const char* text : {"", "$", "$$", "$HOME", "a$b{", "{client.user}", "$ {client.user}"}) {
    EXPECT_EQ(fill_in(text, alice), text);
    EXPECT_FALSE(unknown_placeholder(text)) << text;
  }
}

TEST(ClientPlaceholders, AreWrittenAsTextWithASecondDollar) {
  EXPECT_EQ(fill_in("$${client.user}", alice), "${client.user}");
  EXPECT_EQ(fill_in("$${HOME}", alice), "${HOME}");
  EXPECT_FALSE(unknown_placeholder("$${HOME}"));
  EXPECT_FALSE(needs_user_name("$${client.user}"));
}

TEST(ClientPlaceholders, AreNotLookedForInWhatTheyStandFor) {
  EXPECT_EQ(fill_in("${client.user}", {1, "${client.uid}"}), "${client.uid}");
}

TEST(ClientPlaceholders, AreRefusedWhereTheyAreUnknown) {
  EXPECT_EQ(unknown_placeholder("a${HOME}b"), "${HOME}");
  EXPECT_EQ(unknown_placeholder("${client.user}${client.gid}"), "${client.gid}");
  EXPECT_EQ(unknown_placeholder("${client.user"), "${client.user");
  EXPECT_EQ(unknown_placeholder("${CLIENT.USER}"), "${CLIENT.USER}");
  EXPECT_EQ(unknown_placeholder("${" + std::string(1'000, 'x'))->size(), 64U);
}

TEST(ClientPlaceholders, NeedANameOnlyWhereTheUserIsNamed) {
  EXPECT_TRUE(needs_user_name("x${client.user}"));
  EXPECT_FALSE(needs_user_name("${client.uid}"));
}

TEST(UserName, HasNothingInItThatIsNotSeen) {
  for (const char* name : {"alice", "DOMAIN\\bob", "bob@example.org", "jürgen", "0"}) {
    EXPECT_TRUE(is_user_name(name)) << name;
  }
  for (const char* name : {"", "a b", "a\nb", "a\tb", "\x7f", "a\xc2\x85", "\xff", "a\x1b[0m"}) {
    EXPECT_FALSE(is_user_name(name)) << name;
  }
  EXPECT_TRUE(is_user_name(std::string(max_user_name, 'a')));
  EXPECT_FALSE(is_user_name(std::string(max_user_name + 1, 'a')));
}

}  // namespace
}  // namespace cellblock
