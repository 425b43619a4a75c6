// What a server writes, and what it is given to keep.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/containment/containment_fixture.h"

namespace cellblock::containment {
namespace {

using testing::HasSubstr;

/// In the cell under the path that it has outside.
CellSpec with_written(CellSpec spec, const std::string& directory) {
  spec.server.binds.push_back({directory, directory, Access::write});
  return spec;
}

CellSpec with_execution(CellSpec spec) {
  spec.server.execute_writable = true;
  return spec;
}

CellSpec with_temporary_home(CellSpec spec) {
  spec.server.home = HomeKind::temporary;
  return spec;
}

class Written : public Containment {
 protected:
  Written() : written_(directory_.make_directory("written")) { ::chmod(written_.c_str(), 01777); }

  std::string written_;
};

// --- nothing of the host's is changed ------------------------------------------------------------

TEST_F(Written, AServerCannotSetTheTimesOfADeviceThatItWritesTo) {
  EXPECT_EQ(inside("open_for_writing", {"/dev/null"}), "allowed");
  EXPECT_CONTAINED(outside("set_times", {"/dev/null"}), inside("set_times", {"/dev/null"}),
                   "EROFS");
}

// --- nothing that was written runs ---------------------------------------------------------------

TEST_F(Written, AServerCannotRunAProgramThatItWrote) {
  const std::string program = written_ + "/program";
  EXPECT_CONTAINED(outside("run_from_tmp", {program}),
                   inside(with_written(spec_of("run_from_tmp", {program}), written_)), "EACCES");
  EXPECT_EQ(inside("run_from_tmp", {"/home/mcp/program"}), "refused EACCES");
  EXPECT_EQ(inside(with_temporary_home(spec_of("run_from_tmp", {"/home/mcp/program"}))),
            "refused EACCES");
}

TEST_F(Written, AServerCannotMapCodeThatItWrote) {
  const std::string file = written_ + "/code";
  EXPECT_CONTAINED(outside("map_from_file", {file}),
                   inside(with_written(spec_of("map_from_file", {file}), written_)), "EPERM");
  EXPECT_EQ(inside("map_from_file", {"/home/mcp/code"}), "refused EPERM");
  EXPECT_EQ(inside("map_from_file", {"/tmp/code"}), "refused EPERM");
}

TEST_F(Written, AServerRunsWhatItWroteWhereThatWasDeclared) {
  const std::string program = written_ + "/program";
  EXPECT_EQ(inside(with_execution(with_written(spec_of("run_from_tmp", {program}), written_))),
            "allowed");
  EXPECT_EQ(inside(with_execution(spec_of("run_from_tmp", {"/home/mcp/program"}))), "allowed");
  EXPECT_EQ(inside(with_execution(spec_of("map_from_file", {"/home/mcp/code"}))), "allowed");
  EXPECT_EQ(inside(with_temporary_home(with_execution(spec_of("run_from_tmp", {"/home/mcp/p"})))),
            "allowed");
}

// --- the home ------------------------------------------------------------------------------------

TEST_F(Written, ATemporaryHomeLeavesNothingOnDisk) {
  EXPECT_EQ(inside(with_temporary_home(spec_of("create_file", {"/home/mcp/file"}))), "allowed");
  EXPECT_FALSE(std::filesystem::exists(directory_.path("state/home/probe")));
  EXPECT_EQ(inside("create_file", {"/home/mcp/file"}), "allowed");
  EXPECT_TRUE(std::filesystem::exists(directory_.path("state/home/probe")));
}

TEST_F(Written, AServerCannotFillMoreThanItsTemporaryHome) {
  CellSpec spec = with_temporary_home(spec_of("fill_directory", {"/home/mcp", "4194304"}));
  spec.server.limits.home_bytes = 1U << 20;
  EXPECT_CONTAINED(outside("fill_directory", {written_, "4194304"}), inside(spec), "ENOSPC");
}

TEST_F(Written, AServerCannotMakeAFileLargerThanItMay) {
  ASSERT_EQ(outside("fill_directory", {written_, "4194304"}), "allowed");
  CellSpec spec = spec_of("fill_directory", {"/home/mcp", "4194304"});
  spec.server.limits.file_bytes = 1U << 20;
  const CellRun run = run_in_cell(directory_, spec);
  EXPECT_EQ(run.facts.kind, EndKind::signalled) << line_of(run);
  EXPECT_EQ(run.facts.signal, SIGXFSZ);
}

// --- files of the host in the home -------------------------------------------------------------

class HomeFile : public Containment {
 protected:
  HomeFile() : source_(directory_.write("keys.json", "the keys", 0666)) {
    ::chmod(source_.c_str(), 0666);  // its mount alone is what keeps it
  }

  CellSpec seeing(const std::string& at, const std::string& probe,
                  const Arguments& arguments) const {
    CellSpec spec = spec_of(probe, arguments);
    spec.server.binds.push_back({source_, at, Access::read});
    return spec;
  }
  CellSpec seeing(const std::string& at = "/home/mcp/.gmail-mcp/keys.json") const {
    return seeing(at, "see_home_file", {at, "the keys"});
  }

  std::string source_;
};

TEST_F(HomeFile, IsReadOnlyThereAndNothingElseIs) { EXPECT_EQ(inside(seeing()), "allowed"); }

TEST_F(HomeFile, IsThereInATemporaryHomeToo) {
  EXPECT_EQ(inside(with_temporary_home(seeing())), "allowed");
}

TEST_F(HomeFile, IsThereInEachLaterCellAndNotWithoutItsDeclaration) {
  EXPECT_EQ(inside(seeing()), "allowed");
  EXPECT_EQ(inside(seeing()), "allowed");
  EXPECT_EQ(inside("see_home_file", {"/home/mcp/.gmail-mcp/keys.json", ""}), "opened for writing");
}

TEST_F(HomeFile, LeavesTheHomeWritableBesideIt) {
  EXPECT_EQ(inside(seeing("/home/mcp/.gmail-mcp/keys.json", "create_file",
                          {"/home/mcp/.gmail-mcp/other"})),
            "allowed");
}

TEST_F(HomeFile, StartsNoCellWhereTheServerHasALinkOnTheWay) {
  ASSERT_EQ(inside("make_link", {"/tmp", "/home/mcp/.gmail-mcp"}), "allowed");
  EXPECT_THAT(inside(seeing()), HasSubstr("step place_home_files, errno 20"));
}

TEST_F(HomeFile, StartsNoCellWhereTheServerHasALinkInItsPlace) {
  ASSERT_EQ(inside("make_link", {"/home/mcp/other", "/home/mcp/keys"}), "allowed");
  EXPECT_THAT(inside(seeing("/home/mcp/keys")), HasSubstr("step place_home_files, errno 17"));
}

// --- secrets -------------------------------------------------------------------------------------

class GivenSecret : public Containment {
 protected:
  CellSpec with_secret(const std::string& probe, SecretDelivery delivery) const {
    CellSpec spec = spec_of(probe, {"TOKEN", "plum-anvil"});
    spec.server.secrets = {{"OTHER", "", SecretDelivery::environment}, {"TOKEN", "", delivery}};
    spec.secrets = {"1", "plum-anvil"};
    return spec;
  }
};

TEST_F(GivenSecret, AsAFileIsThereToBeReadAndNothingElse) {
  EXPECT_EQ(inside(with_secret("see_secret_file", SecretDelivery::file)), "allowed");
}

TEST_F(GivenSecret, AsAMemfdIsThereToBeReadAndNothingElse) {
  EXPECT_EQ(inside(with_secret("see_secret_memfd", SecretDelivery::memfd)), "allowed");
}

TEST_F(GivenSecret, OfAnotherKindIsNotWhereItWasNotDeclared) {
  EXPECT_EQ(inside(with_secret("see_secret_file", SecretDelivery::memfd)), "refused ENOENT");
  EXPECT_EQ(inside(with_secret("see_secret_memfd", SecretDelivery::file)), "refused ENOENT");
  EXPECT_EQ(inside(with_secret("see_secret_memfd", SecretDelivery::environment)), "refused ENOENT");
}

TEST_F(GivenSecret, AsSeveralFilesOfSomeSizeAllArrive) {
  CellSpec spec = spec_of("see_secret_file", {"TOKEN", std::string(60'000, 'q')});
  for (int i = 0; i < 30; ++i) {
    spec.server.secrets.push_back({"S" + std::to_string(i), "", SecretDelivery::file});
    spec.secrets.emplace_back(1000, 's');
  }
  spec.server.secrets.push_back({"TOKEN", "", SecretDelivery::file});
  spec.secrets.emplace_back(60'000, 'q');
  EXPECT_EQ(inside(spec), "allowed");
}

}  // namespace
}  // namespace cellblock::containment
