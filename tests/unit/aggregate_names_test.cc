#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "policy/config/names.h"
#include "supervisor/gateway/aggregate/public_name.h"

namespace cellblock::gateway {
namespace {

bool hosts_accept(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

class Names {
 public:
  std::string server() {
    std::string name(1, "ab"[random_() % 2]);
    const std::size_t length = random_() % 4 == 0 ? random_() % 63 : random_() % 4;
    while (name.size() <= length) name.push_back("ab-0"[random_() % 4]);
    return name;
  }
  std::string tool() {
    static constexpr std::string_view pool = "ab0__--__./ \xc3\xa9";
    std::string name;
    const std::size_t length = random_() % 4 == 0 ? random_() % 90 : random_() % 6;
    while (name.size() < length) name.push_back(pool[random_() % pool.size()]);
    return name;
  }
  std::size_t random(std::size_t below) { return random_() % below; }

 private:
  std::mt19937 random_{20260728};
};

TEST(PublicNames, AreWhatHostsAcceptAndNeverTheSameForTwoPairs) {
  Names names;
  std::map<std::string, std::pair<std::string, std::string>> owner;
  for (int i = 0; i < 100'000; ++i) {
    const std::string server = names.server();
    ASSERT_TRUE(is_short_name(server)) << server;
    std::string tool = names.tool();
    // Names that look like what another pair is shown as are the hard ones.
    if (!owner.empty() && names.random(3) == 0) {
      const auto& [shown, pair] =
          *std::next(owner.begin(), names.random(std::min<std::size_t>(owner.size(), 50)));
      tool =
          names.random(2) == 0 ? shown : shown.substr(std::min(shown.find("__") + 2, shown.size()));
    }
    const std::string shown = public_name(server, tool);
    EXPECT_TRUE(hosts_accept(shown)) << shown;
    const auto pair = std::pair(server, tool);
    EXPECT_EQ(owner.try_emplace(shown, pair).first->second, pair) << shown;
  }
}

TEST(PublicNames, ThatArePlainLeadBackAndThoseThatAreShortSayThatTheyAre) {
  Names names;
  for (int i = 0; i < 20'000; ++i) {
    const std::string server = names.server();
    const std::string tool = names.tool();
    const std::string shown = public_name(server, tool);
    const auto parts = split_plain_name(shown);
    EXPECT_NE(parts.has_value(), is_short_form(shown)) << shown;
    if (!parts) continue;
    EXPECT_EQ(parts->server, server);
    EXPECT_EQ(parts->original, tool);
  }
}

TEST(PublicNames, KeepTheServersNameInFrontWhereItFits) {
  EXPECT_EQ(public_name("files", "read_file"), "files__read_file");
  EXPECT_EQ(public_name("files", "_x"), "files___x");
  EXPECT_TRUE(public_name("files", "read.file").starts_with("files__read_file_"));
  EXPECT_TRUE(public_name("files", std::string(80, 'x')).starts_with("files__xxx"));
  EXPECT_TRUE(public_name("files", "").starts_with("files___"));
}

TEST(PublicNames, ThatAreShortAreTheSameInEveryRun) {
  EXPECT_EQ(public_name("files", "read/file"), "files__read_file_3e69995b451b45614f13");
}

TEST(PublicNames, OfAToolThatIsCalledLikeAShortNameAreShortThemselves) {
  const std::string shown = public_name("files", "read/file");
  const std::string imitated = shown.substr(shown.find("__") + 2);
  EXPECT_NE(public_name("files", imitated), shown);
  EXPECT_TRUE(is_short_form(public_name("files", imitated)));
}

TEST(PublicNames, AreNotTakenApartWhereNoServerIsNamed) {
  for (const char* name : {"", "x", "__x", "files", "files_x", "files__", "files__a b"}) {
    EXPECT_FALSE(split_plain_name(name)) << name;
  }
}

}  // namespace
}  // namespace cellblock::gateway
