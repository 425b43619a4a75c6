#include "client/cli/install/pip_credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "client/cli/install/pip_settings.h"

namespace cellblock::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* host = "index.example.org";

std::string password_for(const std::string& text, const std::string& machine = host) {
  const auto login = netrc_login(text, machine);
  return login ? login->user + ":" + login->password : "none";
}

TEST(IndexAddress, IsTakenApartFromItsNameAndPassword) {
  const auto address = index_address("https://ann:t%40ken@index.example.org:8443/simple");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->url, "https://index.example.org:8443/simple");
  EXPECT_EQ(address->login, (IndexLogin{.user = "ann", .password = "t@ken"}));
  EXPECT_EQ(host_of_index(address->url), host);
}

TEST(IndexAddress, MayHaveATokenAloneOrNothing) {
  EXPECT_EQ(index_address("https://token@index.example.org/")->login,
            (IndexLogin{.user = "token", .password = {}}));
  EXPECT_EQ(index_address("https://token:@index.example.org/")->login,
            (IndexLogin{.user = "token", .password = {}}));
  EXPECT_EQ(index_address("https://index.example.org/a@b")->login, std::nullopt);
  EXPECT_EQ(index_address("https://index.example.org/a@b")->url, "https://index.example.org/a@b");
}

TEST(IndexAddress, ThatCannotBeReadIsAnErrorThatDoesNotRepeatIt) {
  for (const char* url : {"https://ann:hu%sh@index.example.org/", "https://hush%@index.example.org",
                          "https://hush%0@index.example.org"}) {
    const auto address = index_address(url);
    ASSERT_FALSE(address) << url;
    EXPECT_THAT(address.error().text, HasSubstr(host));
    EXPECT_THAT(address.error().text, Not(HasSubstr("hu")));
  }
}

TEST(Netrc, GivesTheLoginOfThatHostAlone) {
  const std::string text =
      "# machine index.example.org login no password no\n"
      "machine other.example.org login other password wrong\n"
      "machine index.example.org\n  login ann\n  account x\n  password \"to ken\\\"\"\n"
      "machine index.example.org login second password second\n";
  EXPECT_EQ(password_for(text), "ann:to ken\"");
  EXPECT_EQ(password_for(text, "other.example.org"), "other:wrong");
  EXPECT_EQ(password_for(text, "example.org"), "none");
}

TEST(Netrc, GivesItsDefaultToNobody) {
  EXPECT_EQ(password_for("default login all password all\n"), "none");
  EXPECT_EQ(password_for("machine index.example.org login ann password own default login all "
                         "password all"),
            "ann:own");
}

TEST(Netrc, IsReadPastMacrosAndWhatIsCutOff) {
  EXPECT_EQ(password_for("macdef init\nmachine index.example.org login no password no\n\n"
                         "machine index.example.org login ann password own"),
            "ann:own");
  for (const char* text : {"", "machine", "machine index.example.org login", "\"", "\"\\"}) {
    EXPECT_NO_FATAL_FAILURE(password_for(text)) << text;
  }
}

TEST(NetrcLine, IsReadBackAsItWasWritten) {
  const IndexLogin login{.user = "__token__", .password = "pypi-AgEI=="};
  EXPECT_EQ(netrc_login(netrc_line(host, login).value_or(""), host), login);
  const IndexLogin alone{.user = "token", .password = {}};
  EXPECT_EQ(netrc_login(netrc_line(host, alone).value_or(""), host), alone);
}

TEST(NetrcLine, WithOtherCharactersThanATokenHasIsAnErrorThatDoesNotRepeatThem) {
  for (const char* password : {"hush hush", "hush\nmachine other.example.org", "hush\"", "hush#"}) {
    const auto line = netrc_line(host, {.user = "ann", .password = password});
    ASSERT_FALSE(line) << password;
    EXPECT_THAT(line.error().text, Not(HasSubstr("hush")));
  }
  EXPECT_FALSE(netrc_line(host, {.user = {}, .password = "hush"}));
}

TEST(UvIndex, MayHaveANameThatItsLoginIsFoundBy) {
  EXPECT_EQ(uv_index("corp-one=https://index.example.org/simple").name, "corp-one");
  EXPECT_EQ(uv_index("corp-one=https://index.example.org/simple").url,
            "https://index.example.org/simple");
  EXPECT_EQ(uv_index("https://index.example.org/simple?a=b").name, "");
  EXPECT_EQ(uv_login_prefix("corp-one.2"), "UV_INDEX_CORP_ONE_2_");
}

TEST(PipInstaller, HasTheTokenInAFileAndInNoVariable) {
  const auto installer =
      pip_installer({.python = "/usr/bin/python3",
                     .index = "https://127.0.0.1:8443/simple",
                     .credentials = "machine 127.0.0.1 login ann password hush\n"});
  ASSERT_TRUE(installer) << installer.error().text;
  ASSERT_EQ(installer->secrets.size(), 1U);
  EXPECT_EQ(installer->secrets[0].first, "PIP_CREDENTIALS");
  EXPECT_TRUE(std::ranges::none_of(installer->variables, [](const auto& one) {
    return one.second.find("hush") != std::string::npos;
  }));
}

}  // namespace
}  // namespace cellblock::cli
