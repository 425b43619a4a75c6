#include "policy/setup_step.h"

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
  EXPECT_TRUE(hint_for(SetupStep::new_session, EPERM).empty());
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
