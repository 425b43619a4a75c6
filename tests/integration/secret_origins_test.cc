// Secrets from the service manager's credentials and from commands of the admin's.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/integration/daemon.h"
#include "tests/integration/left_behind.h"

namespace cellblock::harness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view of_credential = "plum-anvil-4711-of-systemd";
constexpr std::string_view of_command = "quartz-heron-0815-of-a-program";

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has_marker(std::string_view text) {
  return text.find("plum-anvil") != text.npos || text.find("quartz-heron") != text.npos;
}

class SecretOrigins : public testing::TestWithParam<Mode> {
 protected:
  SecretOrigins() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
    const TestDirectory& directory = daemon_.directory();
    credentials_ = directory.make_directory("credentials", 0700);
    directory.write("credentials/token", fmt::format("{}\n", of_credential), 0400);
    // Told by two arguments, so that no command line has it whole.
    program_ = directory.write("print", "#!/bin/sh\necho \"quartz-heron-$1-of-a-program\"\n", 0755);
  }

  std::string printed() const {
    return fmt::format("{{ command = [\"{}\", \"0815\"] }}", program_);
  }

  DaemonOptions options(const std::string& secrets) const {
    DaemonOptions options;
    options.servers = server_of_build(daemon_, "echo", "echo_server", {}, secrets);
    options.environment = {"CREDENTIALS_DIRECTORY=" + credentials_};
    return options;
  }

  void start(const std::string& secrets) {
    daemon_.start(options(secrets));
    if (HasFatalFailure()) return;
    host_.emplace(daemon_.connect());
    host_->open_session("echo");
  }

  std::vector<int> everybody() const {
    std::vector<int> processes = lasting_descendants_of(daemon_.pid());
    processes.push_back(daemon_.pid());
    return processes;
  }

  // Its own init and guardian do not execute it.
  int server() const {
    const std::vector<int> all = everybody();
    const auto found = std::ranges::find_if(
        all, [](int pid) { return command_line(pid).find("echo_server") != std::string::npos; });
    EXPECT_NE(found, all.end());
    return found == all.end() ? -1 : *found;
  }

  std::string environment_of_server() const {
    std::string text = "\n" + content_of(fmt::format("/proc/{}/environ", server()));
    std::ranges::replace(text, '\0', '\n');
    return text;
  }

  Daemon daemon_;
  std::string credentials_;
  std::string program_;
  std::optional<Host> host_;
};

INSTANTIATE_TEST_SUITE_P(Modes, SecretOrigins, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

TEST_P(SecretOrigins, ReachTheServerAsVariablesAndFiles) {
  const std::string token = "{ credential = \"token\" }";
  start(
      fmt::format("env_from_file = {{ A = {0}, B = {1} }}\nsecret_files = {{ C = {0}, D = {1} }}\n",
                  token, printed()));
  if (HasFatalFailure()) return;
  if (!running_as_root()) GTEST_SKIP() << "needs root to look into a server";
  EXPECT_THAT(environment_of_server(), AllOf(HasSubstr(fmt::format("\nA={}\n", of_credential)),
                                             HasSubstr(fmt::format("\nB={}\n", of_command)),
                                             HasSubstr("\nC_FILE=/run/secrets/C\n"),
                                             Not(HasSubstr("CREDENTIALS_DIRECTORY"))));
  const std::string inside = fmt::format("/proc/{}/root/run/secrets/", server());
  EXPECT_EQ(content_of(inside + "C"), of_credential);
  EXPECT_EQ(content_of(inside + "D"), of_command);
}

// The server starts only where the program before it could read both.
TEST_P(SecretOrigins, AreReadByTheirPathsInArguments) {
  const std::string server = daemon_.directory().install("echo_server");
  const std::string reader = daemon_.directory().write(
      "bin/read-both",
      fmt::format(
          "#!/bin/sh\n"
          "test \"$(cat \"$1\")\" = \"$(printf %s plum-anvil -4711 -of-systemd)\" || exit 1\n"
          "test \"$(cat \"${{2#--from=}}\")\" = \"$(cat \"$1\")\" || exit 2\n"
          "exec {}\n",
          server),
      0755);
  DaemonOptions wanted = options("");
  wanted.servers = server_table(daemon_, "echo", {reader, "${secret:C}", "--from=${secret:M}"},
                                "secret_files = { C = { credential = \"token\" } }\n"
                                "secret_memfds = { M = { credential = \"token\" } }\n");
  daemon_.start(wanted);
  if (HasFatalFailure()) return;
  host_.emplace(daemon_.connect());
  host_->open_session("echo");
  EXPECT_EQ(host_->call_for_text("echo", {{"text", "x"}}), "x");
}

TEST_P(SecretOrigins, AreInNoLogNoStatusNoCommandLineAndNoOtherEnvironment) {
  start(fmt::format("env_from_file = {{ A = {{ credential = \"token\" }}, B = {} }}\n", printed()));
  if (HasFatalFailure()) return;
  host_->call_for_text("echo", {{"text", "x"}});
  const std::string status = daemon_.connect().request("cellblock/status").dump();
  EXPECT_THAT(status, HasSubstr("\"B\""));
  EXPECT_FALSE(has_marker(status));
  EXPECT_FALSE(has_marker(daemon_.log())) << daemon_.log();
  const std::string audit = content_of(daemon_.directory().path("log/audit.log"));
  EXPECT_TRUE(!running_as_root() || audit.contains("echo")) << audit;
  EXPECT_FALSE(has_marker(audit));
  for (const int pid : everybody()) {
    EXPECT_FALSE(has_marker(content_of(fmt::format("/proc/{}/cmdline", pid))));
    const bool has = has_marker(content_of(fmt::format("/proc/{}/environ", pid)));
    const bool is_server = command_line(pid).find("echo_server") != std::string::npos;
    EXPECT_FALSE(has && !is_server) << command_line(pid);
  }
  for (const auto& file : std::filesystem::recursive_directory_iterator(
           daemon_.directory().path("state"),
           std::filesystem::directory_options::skip_permission_denied)) {
    EXPECT_FALSE(file.is_regular_file() && has_marker(content_of(file.path()))) << file.path();
  }
}

TEST_P(SecretOrigins, OfCommandsArePrintedUnderTheDaemonsUserWithoutPrivilege) {
  const std::string program = daemon_.directory().write(
      "who",
      "#!/bin/sh\necho $(id -u) $(id -G) $(sed -n 's/^Cap[PEIA].*:.//p' /proc/self/status)\n",
      0755);
  start(fmt::format("env_from_file = {{ WHO = {{ command = [\"{}\"] }} }}\n", program));
  if (HasFatalFailure()) return;
  if (!running_as_root()) GTEST_SKIP() << "needs root to look into a server";
  const uid_t id = GetParam() == Mode::system ? daemon_uid : daemon_.user().uid;
  const std::string none = "0000000000000000";
  EXPECT_THAT(environment_of_server(),
              HasSubstr(fmt::format("\nWHO={0} {0} {1} {1} {1} {1}\n", id, none)));
}

TEST_P(SecretOrigins, OfACommandThatFailsLeaveTheServerOutWithTheNameAndTheEnd) {
  const std::string program = daemon_.directory().write(
      "fail", "#!/bin/sh\necho quartz-heron\necho 'not logged in' >&2\nexit 3\n", 0755);
  daemon_.start(
      options(fmt::format("secret_memfds = {{ DB = {{ command = [\"{}\"] }} }}\n", program)));
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_THAT(daemon_.log(),
              HasSubstr(fmt::format("[MCP:stdio:echo] is broken: the command of the secret DB, {}: "
                                    "exited with code 3; what it said is in the journal",
                                    program)));
  EXPECT_THAT(daemon_.log(), HasSubstr(fmt::format("server echo: the command of the secret DB, {}, "
                                                   "said: not logged in\n",
                                                   program)));
  EXPECT_THAT(daemon_.connect().request("cellblock/status").dump(), Not(HasSubstr("logged in")));
  EXPECT_FALSE(has_marker(daemon_.log()));
}

TEST_P(SecretOrigins, OfACredentialThatIsNotThereLeaveTheServerOut) {
  daemon_.start(options("secret_files = { T = { credential = \"other\" } }\n"));
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_THAT(daemon_.log(),
              HasSubstr("[MCP:stdio:echo] is broken: secret_files.T.credential: \"other\" is none "
                        "of the credentials that cellblockd was started with"));
}

TEST_P(SecretOrigins, OfCredentialsLeaveTheServerOutOfAStartThatHasNone) {
  DaemonOptions without = options("secret_files = { T = { credential = \"token\" } }\n");
  without.environment.clear();
  daemon_.start(without);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_THAT(daemon_.log(), HasSubstr("$CREDENTIALS_DIRECTORY is not set"));
}

TEST_P(SecretOrigins, OfAProgramThatOthersCouldChangeLeaveTheServerOut) {
  const std::string open = daemon_.directory().make_directory("open", 0777);
  const std::string program = daemon_.directory().write("open/print", "#!/bin/sh\necho x\n", 0755);
  std::filesystem::permissions(open, std::filesystem::perms{0777});
  daemon_.start(
      options(fmt::format("secret_files = {{ T = {{ command = [\"{}\"] }} }}\n", program)));
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_THAT(daemon_.log(), HasSubstr("somebody else could change"));
}

TEST_P(SecretOrigins, AreNamedByACheckThatRunsNothing) {
  const std::string trace = daemon_.directory().path("trace");
  const std::string program = daemon_.directory().write(
      "trace-it", fmt::format("#!/bin/sh\ntouch {}\necho x\n", trace), 0755);
  DaemonOptions wanted = options(fmt::format(
      "secret_files = {{ T = {{ command = [\"{}\", \"plum-anvil\"], timeout = \"3s\" }}, "
      "C = {{ credential = \"token\" }} }}\n",
      program));
  wanted.environment.clear();
  const std::string said = daemon_.check(wanted);
  EXPECT_THAT(said, HasSubstr(fmt::format("secret T: what {} prints at start", program)));
  EXPECT_THAT(said, HasSubstr("within 3s; not run now"));
  EXPECT_THAT(said, HasSubstr("secret C: the credential \"token\" of the service"));
  EXPECT_THAT(said, HasSubstr("is not looked at here"));
  EXPECT_FALSE(has_marker(said));
  EXPECT_FALSE(std::filesystem::exists(trace));
}

}  // namespace
}  // namespace cellblock::harness
