#include "policy/failures/setup_step.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string_view>

namespace cellblock {
namespace {

TEST(SetupStep, HasANameForEachAndNoTwoTheSame) {
  std::set<std::string_view> names;
  for (std::uint8_t i = 0; i < setup_step_count; ++i) {
    const std::string_view name = name_of(SetupStep{i});
    EXPECT_FALSE(name.empty()) << int{i};
    EXPECT_NE(name, "unknown") << int{i};
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), setup_step_count);
}

TEST(SetupStep, NamesTheFirstAndTheLast) {
  EXPECT_EQ(name_of(SetupStep::none), "none");
  EXPECT_EQ(name_of(SetupStep::enter_root), "enter_root");
  EXPECT_EQ(name_of(SetupStep::exec), "exec");
}

TEST(SetupStep, CallsANumberFromOutsideTheListUnknown) {
  EXPECT_EQ(name_of(SetupStep{setup_step_count}), "unknown");
  EXPECT_EQ(name_of(SetupStep{255}), "unknown");
}

TEST(SetupStep, HasExitCodesThatNoShellGivesAMeaning) {
  std::set<int> codes;
  for (std::uint8_t i = 0; i < setup_step_count; ++i) {
    const int code = exit_code_of(SetupStep{i});
    EXPECT_GE(code, 64);
    EXPECT_LT(code, 126);
    codes.insert(code);
  }
  EXPECT_EQ(codes.size(), setup_step_count);
}

TEST(SetupStep, HintsOnlyWhereTheStepAndTheErrorFit) {
  EXPECT_FALSE(hint_for(SetupStep::clone, EPERM).empty());
  EXPECT_TRUE(hint_for(SetupStep::clone, EIO).empty());
  EXPECT_NE(hint_for(SetupStep::assign_id, EUSERS), hint_for(SetupStep::assign_id, ERANGE));
  EXPECT_FALSE(hint_for(SetupStep::assign_id, EUSERS).empty());
  EXPECT_TRUE(hint_for(SetupStep::new_session, EPERM).empty());
}

TEST(SetupStep, NamesTheKeysThatBringACommandIntoTheCell) {
  const std::string_view hint = hint_for(SetupStep::exec, ENOENT);
  EXPECT_NE(hint.find("program or read"), std::string_view::npos) << hint;
}

// A restart alone refuses the configuration, and with it every server.
TEST(ExecDetail, AsksForTheNewDigestBeforeARestart) {
  const std::string_view text = name_of(ExecDetail::command_changed);
  const std::size_t digest = text.find("server.NAME.sha256");
  const std::size_t check = text.find("--check");
  ASSERT_NE(digest, std::string_view::npos) << text;
  ASSERT_NE(check, std::string_view::npos) << text;
  EXPECT_LT(digest, check);
  EXPECT_LT(check, text.find("restart cellblockd"));
}

TEST(ExecDetail, HasASentenceForEach) {
  std::set<std::string_view> sentences;
  for (std::uint8_t i = 1; i < exec_detail_count; ++i) sentences.insert(name_of(ExecDetail{i}));
  EXPECT_EQ(sentences.size(), exec_detail_count - 1U);
  EXPECT_FALSE(sentences.contains(""));
  EXPECT_EQ(name_of(ExecDetail::none), "");
}

}  // namespace
}  // namespace cellblock
