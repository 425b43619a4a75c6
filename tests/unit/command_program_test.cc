#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

// The command as a script sees it: its exit code, and what is on stdout.

namespace cellblock {
namespace {

struct Ended {
  int code = -1;
  std::string out;
};

Ended run(const std::string& words) {
  const std::string line = std::string(CELLBLOCK_COMMAND) + " " + words;
  FILE* pipe = ::popen(line.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  Ended ended;
  std::array<char, 4096> bytes{};
  while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe)) {
    ended.out.append(bytes.data(), count);
  }
  const int status = ::pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ended;
}

TEST(CommandProgram, FailsWhereItsOutputCannotBeWritten) {
  EXPECT_EQ(run("--help 2>&1").code, 0);
  EXPECT_EQ(run("--help 2>&1 >/dev/full").code, 1);
  EXPECT_EQ(run("--help >&-").code, 1);
  EXPECT_NE(run("--help 2>&1 >/dev/full").out.find("could not be written"), std::string::npos);
}

TEST(CommandProgram, TellsAMistakeInFlagsAsJsonWhereThatIsWanted) {
  const Ended ended = run("--json call 2>/dev/null");
  EXPECT_EQ(ended.code, 2);
  const auto error = nlohmann::json::parse(ended.out, nullptr, false);
  ASSERT_TRUE(error.is_object()) << ended.out;
  EXPECT_EQ(error["error"]["exit_code"], 2);
  EXPECT_EQ(error["error"]["code"], "invalid_argument");
  EXPECT_EQ(run("call 2>/dev/null").out, "");
}

TEST(CommandProgram, TakesAWordInBracketsForAWord) {
  // An array is no object. Had it been split, "a" would have been complained of.
  const Ended call = run("call x y '[a,b]' n=1 2>&1");
  EXPECT_EQ(call.code, 2);
  EXPECT_NE(call.out.find("are a JSON object"), std::string::npos) << call.out;
  const Ended unknown = run("'[a,b]' 2>&1");
  EXPECT_NE(unknown.out.find("there is no command \"[a,b]\""), std::string::npos) << unknown.out;
}

}  // namespace
}  // namespace cellblock
