#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "client/cli/install/lock_holder.h"
#include "client/cli/install/scratch.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Installation, NamesTheProcessThatIsAtWork) {
  const ScratchDirectory scratch;
  const std::string servers = scratch.path() + "/servers";
  const auto first = Scratch::make(servers, std::nullopt);
  ASSERT_TRUE(first) << first.error().text;
  const auto second = Scratch::make(servers, std::nullopt);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().text, AllOf(HasSubstr("cli_lock_holder_test"),
                                         HasSubstr(fmt::format("process {}", ::getpid())),
                                         HasSubstr("is at work in " + servers)));
}

TEST(LockHolder, IsTheProcessThatHoldsItAndNotOneThatWaits) {
  constexpr std::string_view locks =
      "1: POSIX  ADVISORY  WRITE 11 fe:01:7 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 4711 fe:01:7 0 EOF\n"
      "2: -> FLOCK  ADVISORY  WRITE 12 fe:01:7 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 0 fe:01:8 0 EOF\n";
  EXPECT_EQ(lock_holder(locks, makedev(0xfe, 1), 7), 4711);
  EXPECT_EQ(lock_holder(locks, makedev(0xfe, 1), 8), std::nullopt) << "of another namespace";
  EXPECT_EQ(lock_holder(locks, makedev(0xfe, 1), 9), std::nullopt);
}

TEST(LockHolder, IsShownByItsFirstWordsWithoutOptionsAndSecrets) {
  const auto shown = [](std::string_view words) {
    std::string cmdline(words);
    std::ranges::replace(cmdline, ' ', '\0');
    return shown_command(cmdline);
  };
  EXPECT_EQ(shown("/usr/bin/cellblock --user add files -- npx -y it"), "cellblock add files");
  EXPECT_EQ(shown("cellblock add --env TOKEN=hush files"), "cellblock add");
  EXPECT_EQ(shown("cellblock update a b c"), "cellblock update a");
  EXPECT_EQ(shown(""), "");
}

}  // namespace
}  // namespace cellblock::cli
