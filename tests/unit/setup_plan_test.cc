#include "client/cli/setup/setup_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cellblock::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(Setup, GoesOnWhereCellsRunOrOnlyTheDaemonIsMissing) {
  for (const int exit : {0, 6, 13}) EXPECT_TRUE(machine_has_cells(exit)) << exit;
  for (const int exit : {1, 2, 14, 128 + 9}) EXPECT_FALSE(machine_has_cells(exit)) << exit;
}

TEST(Setup, EnablesTheUnitWhereNothingServesAndTheManagerKnowsIt) {
  EXPECT_EQ(service_step({.serves = true, .has_manager = true, .has_unit = true}),
            ServiceStep::nothing);
  EXPECT_EQ(service_step({.has_manager = true, .has_unit = true}), ServiceStep::enable);
}

TEST(Setup, SaysHowTheDaemonIsStartedByHandWhereNoManagerDoesIt) {
  EXPECT_THAT(service_advice(service_step({})), HasSubstr("no systemd runs services of yours"));
  EXPECT_THAT(service_advice(service_step({.has_manager = true})),
              HasSubstr("does not know cellblock's user units: run `cellblockd --user`"));
  EXPECT_EQ(service_advice(ServiceStep::enable), "");
}

TEST(Setup, AsksForTheServersThatAreMissingAlone) {
  const auto servers =
      told_apart({.host = "Cursor", .file = "/h/mcp.json", .names = {"files", "My Notes", "web"}},
                 {"my-notes", "other"});
  EXPECT_THAT(servers.names, ElementsAre("files", "web"));
  EXPECT_THAT(servers.present, ElementsAre("My Notes"));
  EXPECT_EQ(host_line(servers), "Cursor, /h/mcp.json: files, web");
  EXPECT_THAT(present_line(servers), HasSubstr("cellblock has My Notes already"));
}

TEST(Setup, ShowsAHostsServersOnOneHarmlessLine) {
  const auto line =
      host_line({.host = "Cursor", .file = "/h/mcp.json", .names = {"a", "b\x1b[1m"}});
  EXPECT_THAT(line, HasSubstr("Cursor, /h/mcp.json: a, b"));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  const std::vector<std::string> many(100, "long-name");
  EXPECT_LT(host_line({.host = "Cursor", .file = "/h", .names = many}).size(), 300U);
}

TEST(Setup, RunsTheCommandsThatAskThemselvesUnlessAllIsAgreedTo) {
  EXPECT_THAT(import_words("/h/mcp.json", false),
              ElementsAre("--user", "import", "/h/mcp.json", "--install"));
  EXPECT_EQ(import_words("/h/mcp.json", true).back(), "--yes");
  EXPECT_THAT(connect_words(false), ElementsAre("--user", "import", "--into-host"));
  EXPECT_THAT(connect_words(true), SizeIs(4));
}

}  // namespace
}  // namespace cellblock::cli
