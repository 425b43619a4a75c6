#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "policy/config_check/command_check.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;
using Command = std::vector<std::string>;

struct Case {
  Command command;
  const char* says;  ///< empty: nothing is wrong with it
};

constexpr const char* fetches = "downloads what it runs";
constexpr const char* shell = "is a shell";
constexpr const char* lookup = "by its name";
constexpr const char* container = "container service";

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{"/usr/bin/npx", "-y", "x"}, fetches},
      {{"/opt/node/bin/npx"}, fetches},
      {{"/usr/bin/bunx", "x"}, fetches},
      {{"/usr/bin/uvx", "x"}, fetches},
      {{"npx", "-y", "x"}, fetches},
      {{"timeout", "5", "npx", "x"}, fetches},
      {{"/usr/bin/timeout", "-k", "1", "5", "/usr/bin/npx", "x"}, fetches},
      {{"/usr/bin/nice", "-n", "5", "uvx", "x"}, fetches},
      {{"/usr/bin/env", "npx", "x"}, fetches},
      {{"/usr/bin/timeout", "5", "/opt/x/run", "npx"}, lookup},
      {{"/usr/bin/sudo", "-u", "x", "/opt/x/run"}, lookup},
      {{"/usr/bin/docker", "run", "-i", "x"}, container},
      {{"docker", "run", "x"}, container},
      {{"/usr/bin/podman", "run", "x"}, container},
      {{"/usr/bin/pipx", "run", "x"}, fetches},
      {{"/usr/bin/npm", "exec", "x"}, fetches},
      {{"/usr/bin/npm", "--yes", "exec", "x"}, fetches},
      {{"/usr/bin/pnpm", "dlx", "x"}, fetches},
      {{"/usr/bin/yarn", "dlx", "x"}, fetches},
      {{"/usr/bin/node", "/usr/bin/npx", "x"}, fetches},
      {{"/usr/bin/node", "--no-warnings", "/usr/lib/npm/bin/npx-cli.js", "x"}, fetches},
      {{"/usr/bin/node", "/usr/lib/npm/bin/npm-cli.js", "exec", "x"}, fetches},
      {{"/usr/bin/python3", "-m", "pipx", "run", "x"}, fetches},
      {{"/usr/bin/python3", "-I", "-m", "uv", "run", "x"}, fetches},
      {{"/usr/bin/deno", "run", "-A", "https://example.org/x.ts"}, fetches},
      {{"/usr/bin/deno", "run", "npm:x"}, fetches},
      {{"/usr/bin/go", "run", "example.org/x@latest"}, fetches},
      {{"/bin/sh", "-c", "x"}, shell},
      {{"/bin/bash", "-lc", "x"}, shell},
      {{"/bin/bash", "--norc", "-e", "-c", "x"}, shell},
      {{"/bin/sh"}, shell},
      {{"/bin/sh", "-s"}, shell},
      {{"/bin/busybox", "sh", "-c", "x"}, shell},
      {{"/usr/bin/env", "node", "x.js"}, lookup},
      {{"/usr/bin/env", "-S", "npx x"}, lookup},
      {{"/usr/bin/node", "/opt/x/index.js"}, ""},
      {{"/usr/bin/node", "npx"}, ""},
      {{"/usr/bin/node", "/opt/x/index.js", "npx"}, ""},
      {{"/usr/bin/npm", "start"}, ""},
      {{"/usr/bin/npm"}, ""},
      {{"/usr/bin/python3", "-m", "my_server"}, ""},
      {{"/usr/bin/python3", "/opt/x/server.py", "-m", "x"}, ""},
      {{"/usr/bin/deno", "run", "/opt/x/main.ts"}, ""},
      {{"/bin/sh", "/opt/x/run.sh", "-c"}, ""},
      {{"/bin/bash", "--norc", "/opt/x/run.sh"}, ""},
      {{"/usr/bin/uvicorn", "run"}, ""},
      {{}, ""},
  };
  return all;
}

TEST(CommandHabits, WhatRunsIsWhatTheCommandNames) {
  for (const Case& test : cases()) {
    const auto problem = habit_problem(test.command);
    const std::string text = testing::PrintToString(test.command);
    ASSERT_EQ(problem.has_value(), *test.says != '\0') << text << problem.value_or("");
    if (!problem) continue;
    EXPECT_THAT(*problem, HasSubstr(test.says)) << text;
    EXPECT_THAT(*problem, HasSubstr("allowed: ")) << text;
  }
}

TEST(CommandHabits, InAnImageAShellOrAWrapperMayFindWhatItRuns) {
  const auto problem_in_image = [](const std::vector<std::string>& command) {
    return habit_problem(command, CommandPlace::image).value_or("");
  };
  EXPECT_EQ(problem_in_image({"/bin/sh", "-c", "node x.js"}), "");
  EXPECT_EQ(problem_in_image({"/usr/bin/env", "node", "x.js"}), "");
  EXPECT_THAT(problem_in_image({"/usr/bin/env", "npx", "x"}), HasSubstr("downloads"));
  EXPECT_THAT(problem_in_image({"/usr/local/bin/uvx", "x"}), HasSubstr("downloads"));
  EXPECT_THAT(problem_in_image({"/usr/bin/docker", "run", "x"}), HasSubstr("container service"));
}

}  // namespace
}  // namespace cellblock
