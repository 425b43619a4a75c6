#include "policy/sandbox/workspace_match.h"

#include <gtest/gtest.h>

#include <string>

namespace cellblock {
namespace {

struct Case {
  const char* pattern;
  const char* path;
  bool allowed;
};

constexpr Case cases[] = {
    {"/home/*/src/**", "/home/alice/src", true},
    {"/home/*/src/**", "/home/alice/src/cellblock", true},
    {"/home/*/src/**", "/home/alice/src/cellblock/docs", true},
    {"/home/*/src/**", "/home/alice", false},
    {"/home/*/src/**", "/home", false},
    {"/home/*/src/**", "/home/alice/srcs", false},
    {"/home/*/src/**", "/home/alice/deep/src", false},
    {"/home/*/src/**", "/root/alice/src", false},
    // No way around the text: what is not normalised is nothing.
    {"/home/*/src/**", "/home/alice/src/../.ssh", false},
    {"/home/*/src/**", "/home/alice/src/", false},
    {"/home/*/src/**", "/home//alice/src", false},
    {"/home/*/src/**", "home/alice/src", false},
    {"/home/*/src/**", "", false},
    // A dot at the beginning has to be written.
    {"/home/*/src/**", "/home/.alice/src", false},
    {"/home/*/src/**", "/home/alice/src/.git", false},
    {"/home/*/src/**", "/home/alice/src/a/.git/hooks", false},
    {"/home/*/.config/**", "/home/alice/.config/tool", true},
    {"/home/*/.*", "/home/alice/.ssh", true},
    {"/home/*/*", "/home/alice/.ssh", false},
    // Fixed patterns are one directory.
    {"/srv/work", "/srv/work", true},
    {"/srv/work", "/srv/work/below", false},
    {"/srv/work", "/srv", false},
    {"/srv/work/*", "/srv/work", false},
    {"/srv/work/*", "/srv/work/a", true},
    {"/srv/work/*", "/srv/work/a/b", false},
    // Within one component.
    {"/srv/p-*", "/srv/p-1", true},
    {"/srv/p-*", "/srv/p-", true},
    {"/srv/p-*", "/srv/p", false},
    {"/srv/*-x-*", "/srv/a-x-b", true},
    {"/srv/*-x-*", "/srv/a-x", false},
    {"/srv/*a*b*c", "/srv/xxaxxbxxbc", true},
    {"/srv/*a*b*c", "/srv/xxaxxcxxb", false},
    {"/srv/a*", "/srv/a/b", false},
    // Several depths.
    {"/srv/**/src/**", "/srv/src", true},
    {"/srv/**/src/**", "/srv/a/b/src/c", true},
    {"/srv/**/src/**", "/srv/a/b", false},
    {"/srv/**/a/**/b", "/srv/a/x/a/y/b", true},
    {"/srv/**/a/**/b", "/srv/a/x/a/y/c", false},
    {"/srv/**/**", "/srv", true},
    // No patterns.
    {"/**", "/srv", false},
    {"/*/src", "/home/src", false},
    {"/srv/a**", "/srv/ab", false},
    {"srv", "/srv", false},
};

TEST(WorkspaceMatch, APatternAllowsWhatItsTextSays) {
  for (const Case& test : cases) {
    EXPECT_EQ(workspace_allows({{test.pattern}, Access::read}, test.path), test.allowed)
        << test.pattern << " on " << test.path;
  }
}

TEST(WorkspaceMatch, OnePatternOfSeveralIsEnoughAndNoneAllowsNothing) {
  EXPECT_TRUE(workspace_allows({{"/srv/a", "/srv/b"}, Access::read}, "/srv/b"));
  EXPECT_FALSE(workspace_allows({}, "/srv/b"));
}

TEST(WorkspaceMatch, WhatAPatternMatchesIsAtOrBelowItsStaticPrefix) {
  EXPECT_EQ(static_prefix("/home/*/src/**"), "/home");
  EXPECT_EQ(static_prefix("/srv/work/**"), "/srv/work");
  EXPECT_EQ(static_prefix("/srv/wo*k"), "/srv");
  EXPECT_EQ(static_prefix("/srv/work"), "/srv/work");
  EXPECT_EQ(static_prefix("/*"), "/");
}

TEST(WorkspaceMatch, ManyWildcardsTakeNoExponentialTime) {
  std::string pattern = "/srv";
  std::string path = "/srv";
  for (int i = 0; i < 60; ++i) pattern += "/**/a*a*a*a*b";
  for (int i = 0; i < 60; ++i) path += "/aaaaaaaaaaaaaaaaaaaaaaaa";
  EXPECT_FALSE(workspace_allows({{pattern}, Access::read}, path));
}

}  // namespace
}  // namespace cellblock
