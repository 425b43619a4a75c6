#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "supervisor/gateway/session/status_report.h"

namespace cellblock::gateway {
namespace {

const Cgroup full = {"/sys/fs/cgroup/cellblock", true, true, true, true, ""};

TEST(LimitsInAReport, AreHeldByTheGroupWhereItHasTheController) {
  Server server;
  server.limits.memory_bytes = 1 << 20;
  server.limits.swap_bytes = 4096;
  server.limits.cpu = 0.5;
  auto json = limits_json(server, full);
  EXPECT_EQ(json["memory"]["held_by"], "cgroup");
  EXPECT_EQ(json["swap"]["value"], 4096);
  EXPECT_EQ(json["swap"]["held_by"], "cgroup");
  EXPECT_EQ(json["cpu"]["held_by"], "cgroup");
  EXPECT_EQ(json["pids"]["held_by"], "cgroup");
  json = limits_json(server, {});
  EXPECT_EQ(json["memory"]["held_by"], "nothing");
  EXPECT_EQ(json["swap"]["held_by"], "nothing");
  EXPECT_EQ(json["pids"]["held_by"], "rlimit");
}

TEST(LimitsInAReport, NameNoSwapWithoutALimitOfMemory) {
  EXPECT_FALSE(limits_json({}, full).contains("swap"));
}

TEST(LimitsInAReport, OfBandwidthAreHeldOnlyWhereTheDisksAreKnown) {
  struct Row {
    Storage storage;
    std::vector<Disk> disks;
    Cgroup cgroup;
    const char* held_by;
  };
  const Row rows[] = {{Storage::disks, {{8, 0}}, full, "cgroup"},
                      {Storage::disks, {{8, 0}}, {}, "nothing"},
                      {Storage::disks, {}, full, "nothing"},
                      {Storage::unknown, {}, full, "nothing"},
                      {Storage::memory, {}, full, "no disk"}};
  for (const Row& row : rows) {
    Server server;
    server.limits.io_read = server.limits.io_write = 1 << 20;
    server.storage = row.storage;
    server.disks = row.disks;
    const auto json = limits_json(server, row.cgroup);
    EXPECT_EQ(json["io_read"]["held_by"], row.held_by);
    EXPECT_EQ(json["io_write"]["held_by"], row.held_by);
  }
}

TEST(WhatIsDeclared, SaysWhichPathHoldsTheProgram) {
  Server server;
  server.command = {"/usr/bin/node", "--no-warnings", "/opt/memory/index.js", "/srv/data"};
  server.binds = {{"/opt/memory", "/opt/memory", Access::read}, {"/srv/data", "/srv/data"}};
  const auto paths = declared_json(server, {}, {{}, Identity{}})["paths"];
  EXPECT_EQ(paths[0]["holds_program"], true);
  EXPECT_FALSE(paths[1].contains("holds_program"));
}

TEST(WhatIsDeclared, IsReportedWithoutAnyValue) {
  Server server;
  server.binds = {{"/srv/data", "/data", Access::write}};
  server.environment = {{"MODE", "plain-value"}};
  server.secrets = {{"TOKEN", "/etc/secret-place", SecretDelivery::memfd}};
  server.rules = {short_form({1000}, {}, {{"read_", true}, {"stat", false}})};
  const Rights rights(server.rules, subject_of({}, {1000, 1000, {}}));
  const auto json = declared_json(server, tools_in(rights), {{}, Identity{}});
  EXPECT_EQ(json["paths"][0]["target"], "/data");
  EXPECT_EQ(json["paths"][0]["mode"], "rw");
  EXPECT_EQ(json["secrets"][0]["kind"], "memfd");
  EXPECT_EQ(json["tools"].dump(), R"(["read_*","stat"])");
  EXPECT_EQ(json.dump().find("plain-value"), std::string::npos);
  EXPECT_EQ(json.dump().find("secret-place"), std::string::npos);
}

TEST(EgressInAReport, HasTheNamesOfTheConfiguration) {
  const auto json = egress_json({.max_bytes = 1024, .proxy_port = 3128}, {});
  EXPECT_EQ(json["max_bytes"], 1024);
  EXPECT_EQ(json["proxy"], 3128);
}

}  // namespace
}  // namespace cellblock::gateway
