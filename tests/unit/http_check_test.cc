#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "policy/config_check/listen_check.h"
#include "policy/config_reader/config_text.h"

namespace cellblock {
namespace {

using testing::HasSubstr;

constexpr std::string_view token =
    "[[listen.http.token]]\nname = \"ci\"\nfile = \"/t/ci\"\nuser = \"alice\"\n";

HostFacts facts_here() {
  HostFacts facts;
  facts.users["alice"] = {1000, 1000};
  facts.users["root"] = {0, 0};
  facts.groups_of[1000] = {1000, 27};
  facts.tokens["/t/ci"] = {{1, 2, 3}, ""};
  facts.tokens["/t/same"] = {{1, 2, 3}, ""};
  facts.tokens["/t/bad"] = {{}, "has fewer than 32 characters"};
  return facts;
}

struct Outcome {
  std::optional<HttpListen> http;
  std::string complaints;
};

Outcome check(const std::string& toml, RunMode mode = RunMode::system) {
  Complaints complaints;
  const ConfigText text = parse_config_text(toml, "test.toml", FileRole::main, complaints);
  const Identity identity{1000, 1000, 200'000, 4096};
  Listen listen;
  listen.socket = "/run/cellblock/cellblock.sock";
  std::vector<BrokenPart> broken;
  Outcome outcome{check_http(complaints, text, {mode, identity, listen}, facts_here(), broken), {}};
  for (const Complaint& complaint : complaints.take_sorted()) {
    outcome.complaints += to_line(complaint) + "\n";
  }
  return outcome;
}

std::string http(std::string_view lines) { return "[listen.http]\n" + std::string(lines); }

TEST(HttpCheck, NothingIsListenedOnUnlessDeclared) {
  const Outcome outcome = check("");
  EXPECT_FALSE(outcome.http);
  EXPECT_EQ(outcome.complaints, "");
}

TEST(HttpCheck, ATokenStandsForAUserWithAllGroups) {
  const Outcome outcome =
      check(http("address = \"127.0.0.1\"\nport = 8765\n" + std::string(token)));
  ASSERT_EQ(outcome.complaints, "");
  ASSERT_EQ(outcome.http->tokens.size(), 1U);
  EXPECT_EQ(outcome.http->port, 8765);
  const HttpToken& made = outcome.http->tokens[0];
  EXPECT_EQ(made.uid, 1000U);
  EXPECT_EQ(made.groups, (std::vector<std::uint32_t>{1000, 27}));
  EXPECT_EQ(made.sha256[0], 1);
}

TEST(HttpCheck, ASocketNeedsNoToken) {
  const Outcome outcome = check(http("socket = \"/run/cellblock/http.sock\"\nmode = \"0666\"\n"));
  ASSERT_EQ(outcome.complaints, "");
  EXPECT_EQ(outcome.http->mode, 0666U);
}

TEST(HttpCheck, OfOneMistakeThereIsOneComplaint) {
  const std::string own(token);
  const std::string tcp = "address = \"127.0.0.1\"\nport = 8765\n";
  for (const std::string& toml :
       {http(""), http("address = 127\nport = 8765\n" + own),
        http("address = \"127.0.0.1\"\nport = \"8765\"\n" + own),
        http("socket = \"here\"\nmode = \"0600\"\n"), http("socket = 1\nmode = \"0600\"\n"),
        http(tcp + "[[listen.http.token]]\nname = \"a\"\nfile = 1\nuser = \"alice\"\n"),
        std::string("[listen]\naddress = \"127.0.0.1\"\n"), std::string("[http]\nport = 1\n")}) {
    const std::string complaints = check(toml).complaints;
    EXPECT_EQ(std::ranges::count(complaints, '\n'), 1) << toml << complaints;
  }
}

TEST(HttpCheck, ATableOfAnotherNameIsToldTheRightOne) {
  EXPECT_THAT(check("[http]\nport = 1\n").complaints, HasSubstr("did you mean [listen.http]?"));
  EXPECT_THAT(check("[listen]\nport = 1\n").complaints,
              HasSubstr("listen.port: stands in [listen.http]"));
}

TEST(HttpCheck, WhatIsWrongIsSaidWithWhatIsAllowed) {
  const std::string tcp = "address = \"127.0.0.1\"\nport = 8765\n";
  const std::string own(token);
  const auto user = [&](const std::string& name) {
    return tcp + "[[listen.http.token]]\nname = \"a\"\nfile = \"/t/ci\"\nuser = " + name + "\n";
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "listen.http.address: is missing"},
      {"address = \"0.0.0.0\"\nport = 8765\n" + own, "put your own ingress in front"},
      {"address = \"localhost\"\nport = 8765\n" + own,
       "names are not taken; allowed: \"127.0.0.1\" or"},
      {"address = \"127.0.0.1\"\n" + own, "listen.http.port: is missing"},
      {"address = \"127.0.0.1\"\nport = 80\n" + own, "listen.http.port"},
      {tcp, "listen.http.token: is missing"},
      {"socket = \"/run/http.sock\"\n" + own, "has no meaning on a Unix socket"},
      {"socket = \"/run/cellblock/cellblock.sock\"\n", "is the socket of [socket] already"},
      {"mode = \"0666\"\n" + tcp + own, "has no meaning without `socket`"},
      {user("\"root\""), "is root"},
      {user("200001"), "is an id of cells"},
      {user("\"nobody-here\""), "nobody-here"},
      {tcp + "[[listen.http.token]]\nname = \"a\"\nfile = \"/t/bad\"\nuser = \"alice\"\n",
       "has fewer than 32 characters"},
      {tcp + "[[listen.http.token]]\nname = \"A B\"\nfile = \"/t/ci\"\nuser = \"alice\"\n",
       "no name"},
      {tcp + own + own, "is there twice"},
      {tcp + own + "[[listen.http.token]]\nname = \"b\"\nfile = \"/t/same\"\nuser = \"alice\"\n",
       "has the same token as another"},
      {tcp + "origins = [\"evil\"]\n" + own, "listen.http.origins"},
      {tcp + "hosts = [\"a b\"]\n" + own, "listen.http.hosts"},
      {tcp + "max_sessions = 0\n" + own, "listen.http.max_sessions"},
      {tcp + "session_idle = \"1s\"\n" + own, "listen.http.session_idle"},
      {tcp + "ssl = true\n" + own, "unknown key"},
  };
  for (const auto& [lines, said] : cases) {
    EXPECT_THAT(check(http(lines)).complaints, HasSubstr(said)) << lines;
  }
}

TEST(HttpCheck, RootlessATokenStandsForTheUserHimself) {
  const std::string tcp = "address = \"::1\"\nport = 8765\n";
  EXPECT_EQ(check(http(tcp + std::string(token)), RunMode::user).complaints, "");
  EXPECT_THAT(
      check(http(tcp + "[[listen.http.token]]\nname = \"a\"\nfile = \"/t/ci\"\nuser = 1001\n"),
            RunMode::user)
          .complaints,
      HasSubstr("is not you"));
}

}  // namespace
}  // namespace cellblock
