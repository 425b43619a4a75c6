#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/failures/refusal_advice.h"

namespace cellblock {
namespace {

using ::testing::HasSubstr;

std::string advice(NetworkMode network, std::string_view report, std::string_view allow = {}) {
  Server server;
  server.name = "web";
  server.network = network;
  return network_advice_for_report(server, report, allow);
}

TEST(NetworkAdvice, SaysWhatTheCellReachesWhateverTheRuntimeCallsIt) {
  struct Row {
    NetworkMode network;
    const char* says;
  };
  for (const Row& row : {Row{NetworkMode::none, "has no network (network = \"none\")"},
                         Row{NetworkMode::loopback, "its own processes only"},
                         Row{NetworkMode::egress, "`cellblock logs web --denied`"}}) {
    for (const char* report :
         {"getaddrinfo EAI_AGAIN x.org", "getaddrinfo ENOTFOUND x.org", "TypeError: fetch failed",
          "[Errno -3] Temporary failure in name resolution", "Name or service not known",
          "connect EACCES 10.0.0.1:5432", "connect ENETUNREACH 10.0.0.1",
          "Network is unreachable"}) {
      EXPECT_THAT(advice(row.network, report), HasSubstr(row.says)) << report;
    }
  }
}

TEST(NetworkAdvice, NamesTheLineThatWouldAllowTheNameOfACellWithoutANetwork) {
  constexpr std::string_view allow = "network = \"egress\" and egress.allow = [\"x.org:443\"]";
  EXPECT_EQ(advice(NetworkMode::none, "fetch failed", allow),
            "the cell of server web has no network (network = \"none\"); network = \"egress\" and "
            "egress.allow = [\"x.org:443\"] allows the name that it asked for last, and `cellblock "
            "learn web` finds all");
  EXPECT_EQ(advice(NetworkMode::none, "no such file", allow), "");
}

TEST(NetworkAdvice, IsSilentOnTheHostsNetworkAndOfOtherErrors) {
  EXPECT_EQ(advice(NetworkMode::host, "getaddrinfo ENOTFOUND x.org"), "");
  for (const char* report : {"", "ENOENT: no such file", "EACCES: permission denied, open '/x'",
                             "connect ECONNREFUSED 127.0.0.1:1", "404 Not Found"}) {
    EXPECT_EQ(advice(NetworkMode::none, report), "") << report;
  }
}

}  // namespace
}  // namespace cellblock
