// What servers offer, without starting them: found once in a cell of its own, kept on disk for the
// next gateway, served while the server is not there at all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json modern() {
  return {{"_meta",
           {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
            {"io.modelcontextprotocol/clientInfo", {{"name", "t"}, {"version", "1"}}},
            {"io.modelcontextprotocol/clientCapabilities", json::object()}}}};
}

class CatalogueTest : public testing::Test {
 protected:
  CatalogueTest() : daemon_(running_as_root() ? Mode::system : Mode::user) {}

  void start() { daemon_.start({.servers = server_of_build(daemon_, "echo", "echo_server")}); }

  Host attached() {
    Host host = daemon_.connect();
    const json answer =
        host.request("cellblock/attach", {{"server", "echo"}, {"start", "on_demand"}});
    EXPECT_TRUE(answer.contains("result")) << answer.dump();
    return host;
  }

  static void expect_offer(Host& host) {
    const json discovered = host.request("server/discover", modern());
    EXPECT_EQ(discovered["result"]["supportedVersions"][0], "2026-07-28") << discovered.dump();
    const json listed = host.request("tools/list", modern());
    EXPECT_EQ(listed["result"]["tools"][0]["name"], "echo") << listed.dump();
    EXPECT_TRUE(listed["result"]["_meta"]["cellblock/cached"].contains("found_at_ms"));
  }

  json catalogue_of(Host& host) {
    return host.request("cellblock/status")["result"]["servers"][0]["catalogue"];
  }

  /// A cell of the server was started for a survey so many times.
  std::size_t surveys() const {
    std::ifstream file(daemon_.directory().path("log/audit.log"));
    const std::string log{std::istreambuf_iterator<char>(file), {}};
    std::size_t count = 0;
    for (std::size_t at = log.find("\"survey\""); at != std::string::npos;
         at = log.find("\"survey\"", at + 1)) {
      ++count;
    }
    return count;
  }

  /// The record of the first comes a moment after what it is about.
  std::size_t surveys_by_now(Host& host) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (surveys() == 0 && std::chrono::steady_clock::now() < end) {
      host.request("cellblock/status");
    }
    return surveys();
  }

  /// Its next one knows only what is on disk.
  void end_gateway(Host& host) {
    for (const int gateway : daemon_.processes_named("cellblock-gateway")) ::kill(gateway, SIGKILL);
    EXPECT_TRUE(host.at_end());
    // Until it knows of the death, cellblockd hands the next session to what is no more.
    EXPECT_TRUE(daemon_.process().errors().wait_for("was killed by signal 9"));
  }

  Daemon daemon_;
};

TEST_F(CatalogueTest, IsFoundOnceForAHostThatProbesTwice) {
  start();
  {
    Host probe = attached();
    expect_offer(probe);
  }
  Host host = attached();
  expect_offer(host);
  EXPECT_EQ(surveys_by_now(host), 1U);
  EXPECT_EQ(catalogue_of(host)["source"], "survey");
  EXPECT_EQ(catalogue_of(host)["era"], "modern");
}

TEST_F(CatalogueTest, IsReadFromDiskByTheNextGatewayWithoutAStart) {
  start();
  Host first = attached();
  expect_offer(first);
  EXPECT_EQ(surveys_by_now(first), 1U);
  end_gateway(first);
  Host host = attached();
  expect_offer(host);
  EXPECT_EQ(catalogue_of(host)["source"], "disk");
  EXPECT_TRUE(daemon_.processes_named("echo_server").empty());
  EXPECT_EQ(surveys(), 1U);
}

TEST_F(CatalogueTest, IsServedWhileTheServerIsNotThere) {
  start();
  Host first = attached();
  expect_offer(first);
  end_gateway(first);
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(daemon_.directory().path())) {
    if (entry.path().filename() == "echo_server") std::filesystem::remove(entry.path());
  }
  Host host = attached();
  expect_offer(host);
}

TEST_F(CatalogueTest, IsForgottenByARestartOfItsServer) {
  start();
  Host host = attached();
  expect_offer(host);
  EXPECT_TRUE(host.request("cellblock/restart", {{"server", "echo"}}).contains("result"));
  Host next = daemon_.connect();
  EXPECT_EQ(catalogue_of(next)["source"], "none");
}

TEST_F(CatalogueTest, IsFoundAgainWhenItsFileIsDamaged) {
  start();
  Host first = attached();
  expect_offer(first);
  std::size_t damaged = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(daemon_.directory().path())) {
    if (entry.path().extension() != ".catalogue") continue;
    std::ofstream(entry.path()) << "damaged";
    ++damaged;
  }
  EXPECT_EQ(damaged, 1U);
  end_gateway(first);
  Host host = attached();
  expect_offer(host);
  EXPECT_EQ(catalogue_of(host)["source"], "survey");
}

}  // namespace
}  // namespace cellblock::harness
