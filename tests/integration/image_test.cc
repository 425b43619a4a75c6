// Servers of unpacked images: what their cells see, and what hostile images get them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <utility>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// An image with one static server in it.
class Image : public testing::TestWithParam<Mode> {
 protected:
  Image() {
    const std::string installed = files().install("static_recording_server");
    files().make_directory("image");
    files().make_directory("image/bin");
    files().make_directory("image/etc");
    fs::copy_file(installed, root() + "/bin/server");
    files().write("image/etc/motd", "of the image");
    files().write("image/etc/passwd", "root:x:0:0::/root:/bin/sh\n");
    files().write("image/app/data.txt", "data of the image");
  }

  const TestDirectory& files() const { return daemon_.directory(); }
  std::string root() const { return files().path("image"); }
  void link(const std::string& name, const std::string& target) const {
    fs::create_symlink(target, root() + "/" + name);
  }

  std::string table(const std::string& more = "",
                    const std::string& command = "/bin/server") const {
    return fmt::format(
        "[server.boxed]\ncommand = [\"{}\"]\nimage = \"{}\"\npin = \"off\"\n"
        "allow = {{ users = [{}], tools = [\"*\"] }}\n{}\n",
        command, root(), daemon_.user().uid, more);
  }

  void start(const std::string& servers) {
    daemon_.start({.mode = GetParam(), .servers = servers, .results = ""});
  }

  Host open() {
    Host host = daemon_.connect();
    host.open_session("boxed");
    return host;
  }

  static std::string read(Host& host, const std::string& path) {
    return host.call_for_text("read_file", {{"path", path}});
  }

  /// Of the attach, or of the first request.
  std::string start_error() {
    Host host = daemon_.connect();
    json answer = host.attach("boxed");
    if (!answer.contains("error")) answer = host.request("initialize", greeting());
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : "";
  }

  static json greeting() {
    return {{"protocolVersion", "2025-06-18"},
            {"capabilities", json::object()},
            {"clientInfo", {{"name", "test"}, {"version", "1"}}}};
  }

  Daemon daemon_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(As, Image, testing::Values(Mode::system, Mode::user), name_of_mode);

TEST_P(Image, IsTheRootOfTheCellInPlaceOfTheHostsDirectories) {
  start(table());
  if (HasFatalFailure()) return;
  Host host = open();
  EXPECT_EQ(host.call_for_text("list_directory", {{"path", "/"}}), "app bin dev etc home proc tmp");
  EXPECT_EQ(host.call_for_text("list_directory", {{"path", "/bin"}}), "server");
  EXPECT_EQ(read(host, "/etc/motd"), "of the image");
  EXPECT_THAT(read(host, "/usr/bin/env"), StartsWith("cannot open"));
}

TEST_P(Image, TheCellsOwnFilesAreThereAsInAnyCell) {
  start(table());
  if (HasFatalFailure()) return;
  Host host = open();
  EXPECT_THAT(read(host, "/etc/passwd"), StartsWith("mcp:x:1000:1000:"));
  EXPECT_THAT(read(host, "/etc/resolv.conf"), StartsWith("nameserver 127.0.0.1"));
  EXPECT_THAT(read(host, "/proc/self/status"), HasSubstr("CapEff:\t0000000000000000"));
  EXPECT_EQ(host.call_for_text("working_directory", json::object()), "/home/mcp");
}

TEST_P(Image, FilesOfTheHostAreSeenInTheHomeOfItsCells) {
  const std::string keys = files().write("keys.json", "the keys");
  start(table(fmt::format("home_files = {{ \".config/keys.json\" = \"{}\" }}", keys)));
  if (HasFatalFailure()) return;
  Host host = open();
  EXPECT_EQ(read(host, "/home/mcp/.config/keys.json"), "the keys");
  EXPECT_EQ(host.call_for_text("list_directory", {{"path", "/home/mcp/.config"}}), "keys.json");
}

TEST_P(Image, ModulesAreNotTakenFromWhereTheServerWritesWhateverLinkLeadsThere) {
  const std::string data = files().make_directory("shared");
  link("work", "/home/mcp");
  link("app/scratch", "../tmp");
  link("data", "/srv/shared");
  std::string servers;
  for (const auto& [name, place] :
       {std::pair{"plain", "/app"}, {"home", "/work"}, {"tmp", "/app/scratch"}, {"rw", "/data"}}) {
    std::string one =
        table(fmt::format("working_directory = \"{}\"\nwrite = [\"{}:/srv/shared\"]", place, data),
              "/bin/server\", \"-m\", \"app");
    servers += one.replace(one.find("boxed"), 5, name);
  }
  start(servers);
  if (HasFatalFailure()) return;
  for (const auto& [name, is_apart] :
       {std::pair{"plain", false}, {"home", true}, {"tmp", true}, {"rw", true}}) {
    Host host = daemon_.connect();
    host.open_session(name);
    EXPECT_EQ(read(host, "/proc/self/environ").contains("PYTHONSAFEPATH=1"), is_apart) << name;
  }
}

TEST_P(Image, LinksThatLeadOutOfItLeadNowhere) {
  const std::string outside = files().write("outside", "of the host");
  link("whole", outside);
  link("up", "../../../../../.." + outside);
  link("app/motd", "/etc/motd");
  start(table());
  if (HasFatalFailure()) return;
  Host host = open();
  EXPECT_THAT(read(host, "/whole"), StartsWith("cannot open"));
  EXPECT_THAT(read(host, "/up"), StartsWith("cannot open"));
  EXPECT_EQ(read(host, "/app/motd"), "of the image");
}

TEST_P(Image, ACommandIsFoundThroughTheImagesOwnLinks) {
  link("entry", "/bin/server");
  start(table("", "/entry"));
  if (HasFatalFailure()) return;
  Host host = open();
  EXPECT_EQ(read(host, "/etc/motd"), "of the image");
}

TEST_P(Image, ACommandThatIsOnTheHostAloneIsMissing) {
  link("env", files().install("recording_server"));
  start(table("", "/env"));
  if (HasFatalFailure()) return;
  EXPECT_THAT(daemon_.log(), HasSubstr("does not exist in the image"));
  EXPECT_THAT(start_error(), HasSubstr("step exec failed"));
}

TEST_P(Image, DeclaredPathsAreSeenInTheMiddleOfIt) {
  const std::string data = files().make_directory("shared");
  files().write("shared/note", "of the host");
  start(table(fmt::format("read = [\"{}:/app/shared\"]\nworking_directory = \"/app\"", data)));
  if (HasFatalFailure()) return;
  Host host = open();
  EXPECT_EQ(host.call_for_text("working_directory", json::object()), "/app");
  EXPECT_EQ(read(host, "/app/shared/note"), "of the host");
  EXPECT_EQ(read(host, "/app/data.txt"), "data of the image");
}

TEST_P(Image, AWorkingDirectoryThatItLacksStopsTheStartWithTheStep) {
  start(table("working_directory = \"/none\""));
  if (HasFatalFailure()) return;
  const std::string said = start_error();
  EXPECT_THAT(said, HasSubstr("step enter_root failed: ENOENT"));
  EXPECT_THAT(said, HasSubstr("working_directory does not exist in the cell"));
}

TEST_P(Image, IsMountedReadOnlyWithoutSetIdBitsAndDevices) {
  ASSERT_EQ(::chmod((root() + "/app/data.txt").c_str(), 04755), 0);
  start(table());
  if (HasFatalFailure()) return;
  Host host = open();
  std::istringstream lines(read(host, "/proc/self/mountinfo"));
  int seen = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" /app ") == std::string::npos && line.find(" /bin ") == std::string::npos) {
      continue;
    }
    EXPECT_THAT(line, HasSubstr(" ro,nosuid,nodev"));
    ++seen;
  }
  EXPECT_EQ(seen, 2);
}

TEST_P(Image, OfUserZeroRunsAsADedicatedIdAllTheSame) {
  if (!running_as_root() || GetParam() == Mode::user) GTEST_SKIP() << "needs root's daemon";
  start(table());
  if (HasFatalFailure()) return;
  Host host = open();
  EXPECT_EQ(json::parse(host.call_for_text("whoami", json::object()))["uid"], 1000);
  const auto servers = daemon_.processes_named("server");
  ASSERT_EQ(servers.size(), 1U);
  struct stat process{};
  ASSERT_EQ(::stat(fmt::format("/proc/{}", servers.front()).c_str(), &process), 0);
  EXPECT_GE(process.st_uid, 100'000U);
}

TEST_P(Image, ThatOthersCanChangeLeavesItsServerOut) {
  files().make_directory("image/tmp");
  fs::permissions(root() + "/tmp", fs::perms::all);
  start(table() + server_of_build(daemon_, "well", "recording_server"));
  if (HasFatalFailure()) return;
  EXPECT_THAT(daemon_.log(), HasSubstr("/image/tmp can be changed by its group or by others"));
  EXPECT_THAT(start_error(), HasSubstr("somebody else could change what is in"));
  Host host = daemon_.connect();
  host.open_session("well");
}

TEST_P(Image, WithADeviceLeavesItsServerOut) {
  if (!running_as_root()) GTEST_SKIP() << "needs root: a device file";
  ASSERT_EQ(::mknod((root() + "/app/disk").c_str(), S_IFBLK | 0644, makedev(7, 0)), 0);
  ASSERT_EQ(::chown((root() + "/app/disk").c_str(), files().owner(), files().owner()), 0);
  start(table());
  if (HasFatalFailure()) return;
  EXPECT_THAT(start_error(), HasSubstr("/app/disk is a device, a socket or a pipe"));
}

TEST_P(Image, ThatIsRemovedAfterTheCheckStopsNothingThatRuns) {
  start(table());
  if (HasFatalFailure()) return;
  fs::rename(root(), files().path("moved"));
  Host host = open();
  EXPECT_EQ(read(host, "/etc/motd"), "of the image");
}

TEST_P(Image, IsNamedByTheStatusAndTheCheck) {
  start(table());
  if (HasFatalFailure()) return;
  Host host = daemon_.connect();
  const json answer = host.request("cellblock/status");
  EXPECT_EQ(answer["result"]["servers"][0]["image"], root());
  EXPECT_THAT(daemon_.check({.mode = GetParam(), .servers = table(), .results = ""}),
              HasSubstr("in the image " + root()));
}

TEST_P(Image, TheProbeFindsNothingOpenInACellOfOne) {
  start(table());
  if (HasFatalFailure()) return;
  Host host = daemon_.connect();
  const json attached = host.request("cellblock/attach", {{"server", "boxed"}, {"probe", true}});
  ASSERT_TRUE(attached.contains("result")) << attached.dump();
  host.request("initialize", greeting());
  const json found = host.call("run", json::object())["result"]["structuredContent"];
  EXPECT_GT(found["attempts"].size(), 200U);
  for (const json& attempt : found["attempts"]) {
    EXPECT_NE(attempt["verdict"], "unexpected") << attempt.dump();
  }
}

}  // namespace
}  // namespace cellblock::harness
