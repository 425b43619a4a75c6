#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/config_check/config_check.h"

namespace cellblock {
namespace {

HostFacts facts() {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.cgroup = {"/sys/fs/cgroup/cellblock", true, true, true, true, ""};
  facts.users = {{"cellblock", {990, 991}}, {"alice", {1001, 1001}}};
  for (const char* path : {"/d", "/d/sub", "/e", "/usr/local/share"}) {
    facts.sources[path] = {PathKind::directory, path};
  }
  facts.sources["/link"] = {PathKind::directory, "/d/sub"};
  facts.programs["/d"] = {PathKind::directory, ""};
  facts.commands["s"].host_path = "/usr/bin/node";
  return facts;
}

std::string errors_of(const std::string& lines) {
  Complaints complaints;
  const std::string text =
      "[server.s]\ncommand = [\"/usr/bin/node\"]\n"
      "allow = { users = [\"alice\"], tools = [\"read\"] }\n" +
      lines + "\n";
  const std::vector<ConfigText> files = {
      parse_config_text(text, "c.toml", FileRole::main, complaints)};
  check_config({RunMode::system, {}, files}, facts(), complaints);
  std::string errors;
  for (const Complaint& complaint : complaints.take_sorted()) {
    if (complaint.severity == Complaint::Severity::error) errors += to_line(complaint) + "\n";
  }
  return errors;
}

constexpr const char* twice[] = {
    "read = [\"/d:/exe\"]\nwrite = [\"/d:/dat\"]",
    "read = [\"/d:/exe\"]\nwrite = [\"/d/sub:/dat\"]",
    "read = [\"/d/sub:/exe\"]\nwrite = [\"/d:/dat\"]",
    "read = [\"/d:/exe\"]\nwrite = [\"/link:/dat\"]",
    "read = [\"/d\"]\nwrite = [\"/link\"]",
    "write = [\"/usr/local/share:/data\"]",
    "read = [\"/d/sub\"]\nworkspace = { allow = [\"/d/*\"], mode = \"rw\" }",
};

TEST(WriteOverlap, RefusesFilesThatAreWrittenAtOnePlaceAndExecutedAtAnother) {
  for (const std::string lines : twice) {
    EXPECT_THAT(errors_of(lines), testing::HasSubstr("could be executed")) << lines;
  }
}

TEST(WriteOverlap, TakesThemWithTheNamedWeakening) {
  for (const std::string lines : twice) {
    EXPECT_EQ(errors_of("execute_writable = true\n" + lines), "") << lines;
  }
}

TEST(WriteOverlap, RefusesItOfTheProgramWhateverIsWeakened) {
  for (const std::string lines :
       {"write = [\"/d:/data\"]", "write = [\"/d/sub\"]", "write = [\"/d\"]",
        "write = [\"/link:/data\"]", "workspace = { allow = [\"/d/**\"], mode = \"rw\" }"}) {
    const std::string all = "program = \"/d\"\nexecute_writable = true\n" + lines;
    EXPECT_THAT(errors_of(all), testing::HasSubstr("apart from the program")) << lines;
  }
}

TEST(WriteOverlap, TakesWhatIsSeenAtOnePlaceOnly) {
  for (const std::string lines :
       {"read = [\"/d\"]\nwrite = [\"/d/sub\"]", "read = [\"/d/sub\"]\nwrite = [\"/d\"]",
        "read = [\"/d:/x\"]\nwrite = [\"/d/sub:/x/sub\"]", "read = [\"/d\"]\nwrite = [\"/e\"]",
        "read = [\"/d\"]\nworkspace = { allow = [\"/d/*\"], mode = \"ro\" }",
        "program = \"/d\"\nwrite = [\"/e\"]"}) {
    EXPECT_EQ(errors_of(lines), "") << lines;
  }
}

}  // namespace
}  // namespace cellblock
