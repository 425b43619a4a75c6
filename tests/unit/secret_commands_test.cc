#include "supervisor/loader/load/secret_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "supervisor/process/children.h"
#include "tests/unit/scratch_directory.h"

namespace cellblock::daemon {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class SecretCommands : public ::testing::Test {
 protected:
  SecretCommands() { EXPECT_TRUE(adopt_children()); }

  // Written in full, for nobody else names a shell here.
  static std::vector<std::string> script(const std::string& text) {
    return {"/bin/sh", "-c", text};
  }

  /// The value, or why there is none.
  std::string run(std::vector<std::string> argv, milliseconds timeout = milliseconds(20'000)) {
    Config config = config_of({{std::move(argv), timeout}});
    Secrets secrets{{{{""}}}};
    said_ = run_secret_commands(config, [](milliseconds) {}, secrets);
    const Server& server = config.servers.at(0);
    if (!server.is_usable()) {
      EXPECT_THAT(secrets.servers.at(0).values, IsEmpty());
      EXPECT_THAT(server.secrets, IsEmpty());
      return server.breakage.cause;
    }
    return secrets.servers.at(0).values.at(0);
  }
  std::string run_script(const std::string& text, milliseconds timeout = milliseconds(20'000)) {
    return run(script(text), timeout);
  }

  static Config config_of(const std::vector<SecretCommand>& commands) {
    Config config;
    config.mode = RunMode::user;  // whoever runs the tests has no groups to leave
    Server& server = config.servers.emplace_back();
    server.name = "git";
    for (const SecretCommand& command : commands) {
      server.secrets.push_back(
          {"TOKEN", "", SecretDelivery::environment, SecretOrigin::command, command});
    }
    return config;
  }

  ScratchDirectory scratch_;
  std::vector<std::string> said_;  ///< on stderr, in the last run()
};

TEST_F(SecretCommands, GiveWhatTheyPrintWithoutOneNewline) {
  EXPECT_EQ(run({"/bin/echo", "a b"}), "a b");
  EXPECT_EQ(run_script("printf 'a\\n\\n'"), "a\n");
  EXPECT_EQ(run_script("printf a; echo noise >&2; printf b"), "ab");
  EXPECT_EQ(run_script("head -c 65536 /dev/zero | tr '\\0' x"), std::string(65536, 'x'));
}

TEST_F(SecretCommands, AreRunWithoutAShell) {
  EXPECT_EQ(run({"/bin/echo", "$(id)", ";", "*"}), "$(id) ; *");
}

TEST_F(SecretCommands, MayBeScripts) {
  EXPECT_EQ(run({scratch_.write("s", "#!/bin/sh\necho \"$1\"\n", 0700), "x"}), "x");
}

TEST_F(SecretCommands, FailWithVariableProgramAndHowTheyEnded) {
  const std::string head = "the command of the secret TOKEN, /bin/sh: ";
  EXPECT_EQ(run_script("exit 3"), head + "exited with code 3; it said nothing on stderr");
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_THAT(run_script("kill -9 $$"), StartsWith(head + "was killed by signal 9"));
  EXPECT_THAT(run_script("kill -11 $$"), StartsWith(head + "was killed by signal 11"));
}

TEST_F(SecretCommands, TellWhatTheySaidToTheLogAloneAndNotToWhoHearsTheCause) {
  EXPECT_EQ(run_script("echo 'no \033[31mlogin' >&2; exit 1"),
            "the command of the secret TOKEN, /bin/sh: exited with code 1; what it said is in the "
            "journal");
  EXPECT_THAT(said_, ElementsAre("server git: the command of the secret TOKEN, /bin/sh, said: no "
                                 "\\x1b[31mlogin"));
  EXPECT_THAT(run_script("echo plum >&2"), HasSubstr("printed nothing; what it said is in the"));
  EXPECT_THAT(said_, ElementsAre(HasSubstr("said: plum")));
  EXPECT_EQ(run_script("echo plum >&2; echo x"), "x");
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(SecretCommands, SayOnceWhatSeveralServersHearNothingOf) {
  const SecretCommand fails{script("echo plum >&2; exit 1"), milliseconds(9000)};
  Config config = config_of({fails});
  config.servers.push_back(config_of({fails}).servers[0]);
  Secrets secrets{{{{""}}, {{""}}}};
  EXPECT_THAT(run_secret_commands(
                  config, [](milliseconds) {}, secrets),
              ElementsAre(HasSubstr("said: plum")));
  for (const Server& server : config.servers) {
    EXPECT_THAT(server.breakage.cause, AllOf(HasSubstr("code 1"), Not(HasSubstr("plum"))));
  }
}

TEST_F(SecretCommands, AreNotRunOnceAllTogetherHaveUsedTheirTimeUp) {
  const std::string trace = scratch_.path() + "/trace";
  const SecretCommand works{script("echo y"), milliseconds(20'000)};
  const SecretCommand hangs{script("sleep 1000"), milliseconds(60'000)};
  const SecretCommand late{script("touch " + trace + "; echo z"), milliseconds(20'000)};
  Config config = config_of({works});
  for (const auto& command : {hangs, late, works}) {
    config.servers.push_back(config_of({command}).servers[0]);
  }
  Secrets secrets{{{{""}}, {{""}}, {{""}}, {{""}}}};
  std::vector<milliseconds> asked;
  run_secret_commands(
      config, [&](milliseconds t) { asked.push_back(t); }, secrets, milliseconds(3000));
  EXPECT_THAT(secrets.servers.at(0).values, ElementsAre("y"));
  EXPECT_THAT(config.servers[1].breakage.cause,
              AllOf(HasSubstr("did not end within"), HasSubstr("have 3s together")));
  EXPECT_THAT(config.servers[2].breakage.cause, HasSubstr("was not run: all commands of secrets"));
  EXPECT_THAT(secrets.servers.at(3).values, ElementsAre("y")) << "it was printed before";
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_LE(asked[1], milliseconds(3000));
  EXPECT_NE(::access(trace.c_str(), F_OK), 0);
}

TEST_F(SecretCommands, FailAtTheirDeadlineHoweverTheyHoldOut) {
  const milliseconds soon(200);
  EXPECT_THAT(run_script("sleep 1000", soon), HasSubstr("did not end within 200ms"));
  EXPECT_THAT(run_script("trap '' TERM HUP INT; while :; do :; done", soon),
              HasSubstr("did not end within 200ms"));
  EXPECT_THAT(run_script("kill -STOP $$", soon), HasSubstr("did not end within 200ms"));
  EXPECT_THAT(run_script("exec 1>&- 2>&-; sleep 1000", soon),
              HasSubstr("did not end within 200ms"));
  EXPECT_THAT(run_script("yes noise >&2", soon), HasSubstr("did not end within 200ms"));
}

TEST_F(SecretCommands, FailWithTooMuchNothingOrANul) {
  EXPECT_THAT(run_script("head -c 65537 /dev/zero | tr '\\0' x"),
              HasSubstr("printed more than 64KiB"));
  EXPECT_THAT(run_script("exec yes"), HasSubstr("printed more than 64KiB"));
  EXPECT_THAT(run_script("printf 'a\\000b'"), HasSubstr("printed a NUL"));
  EXPECT_THAT(run({"/bin/true"}), HasSubstr("printed nothing"));
  EXPECT_THAT(run({"/bin/echo"}), HasSubstr("printed nothing"));
}

TEST_F(SecretCommands, FailWhereTheyCannotBeStarted) {
  EXPECT_THAT(run({scratch_.path() + "/none"}), HasSubstr("cannot be started: execve: No such"));
  EXPECT_THAT(run({scratch_.write("closed", "#!/bin/sh\n", 0600)}),
              HasSubstr("cannot be started: execve: Permission denied"));
  EXPECT_THAT(run({scratch_.write("text", "no program", 0700)}), HasSubstr("cannot be started"));
}

TEST_F(SecretCommands, NeverShowWhatTheyPrintedNorTheirArguments) {
  const std::string marker = "plum-anvil-4711";
  EXPECT_THAT(run({"/bin/sh", "-c", "echo plum-anvil-4711; exit 1"}), Not(HasSubstr(marker)));
  EXPECT_THAT(run({"/bin/sh", "-c", "printf 'plum-anvil-4711\\000'"}), Not(HasSubstr(marker)));
  EXPECT_THAT(run({"/bin/sh", "-c", "echo plum-anvil-4711 | tee /dev/stderr; exit 1"}),
              AllOf(Not(HasSubstr(marker)), HasSubstr("repeats its output")));
  EXPECT_THAT(said_, IsEmpty());
}

TEST_F(SecretCommands, LeaveNothingRunning) {
  const std::string pids = scratch_.path() + "/pids";
  const std::string left = "setsid sh -c 'echo $$ >> " + pids + "; exec sleep 1000' & " +
                           "(sh -c 'echo $$ >> " + pids + "; exec sleep 1000' &) ; " +
                           "while [ $(wc -l < " + pids + " || echo 0) -lt 2 ]; do :; done; echo x";
  EXPECT_EQ(run_script("touch " + pids + "; " + left), "x");
  std::ifstream file(pids);
  int count = 0;
  for (pid_t pid = 0; file >> pid; ++count) EXPECT_EQ(::kill(pid, 0), -1) << pid;
  EXPECT_EQ(count, 2);
}

TEST_F(SecretCommands, DoNotEndOurOtherChildren) {
  const pid_t other = ::fork();
  if (other == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::pause();
    ::_exit(0);
  }
  EXPECT_EQ(run_script("sleep 1000 & echo x"), "x");
  const auto children = own_children();
  ASSERT_TRUE(children.has_value());
  EXPECT_THAT(*children, ElementsAre(other));
  ::kill(other, SIGKILL);
  EXPECT_TRUE(await_child(other, milliseconds(20'000)));
}

TEST_F(SecretCommands, HaveThreeDescriptorsAndNothingOnStdin) {
  const int inherited = ::dup(STDERR_FILENO);  // without close-on-exec
  EXPECT_EQ(run_script("cat; cd /proc/self/fd; for i in *; do [ ! -e $i ] || echo $i; done"),
            "0\n1\n2");
  ::close(inherited);
}

TEST_F(SecretCommands, HaveASmallEnvironmentOfTheirOwn) {
  ASSERT_EQ(::setenv("MARKER", "1", 1), 0);
  ASSERT_EQ(::setenv("CREDENTIALS_DIRECTORY", "/run/credentials/x", 1), 0);
  ASSERT_EQ(::setenv("LD_BIND_NOW", "1", 1), 0);
  const std::string names = run_script("env | sed 's/=.*//' | sort");
  ::unsetenv("MARKER");
  ::unsetenv("LD_BIND_NOW");
  EXPECT_THAT(names, AllOf(Not(HasSubstr("MARKER")), Not(HasSubstr("LD_")), HasSubstr("HOME"),
                           HasSubstr("CREDENTIALS_DIRECTORY"), HasSubstr("LANG")));
  EXPECT_EQ(run_script("echo $PATH"),
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  ::unsetenv("CREDENTIALS_DIRECTORY");
  EXPECT_THAT(run_script("env"), Not(HasSubstr("CREDENTIALS_DIRECTORY")));
}

TEST_F(SecretCommands, StartLikeAnyProgramThatCanGainNoPrivilege) {
  const std::string status = run({"/bin/cat", "/proc/self/status"});
  EXPECT_THAT(status, AllOf(HasSubstr("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"),
                            HasSubstr("NoNewPrivs:\t1\n")));
  EXPECT_EQ(run_script("ulimit -Sn"), "1024");
  EXPECT_EQ(run_script("[ $$ = $(ps -o sid= -p $$) ] && echo own"), "own");
}

TEST_F(SecretCommands, ThatAreTheSameAreRunOnce) {
  const std::string count = scratch_.path() + "/count";
  const SecretCommand command{script("echo x >> " + count + "; wc -l < " + count),
                              milliseconds(9000)};
  const SecretCommand other{script("echo y"), milliseconds(9000)};
  Config config = config_of({command, other, command});
  Secrets secrets{{{{"", "", ""}}}};
  std::vector<milliseconds> asked;
  run_secret_commands(config, [&](milliseconds t) { asked.push_back(t); }, secrets);
  EXPECT_THAT(secrets.servers.at(0).values, ElementsAre("1", "y", "1"));
  EXPECT_THAT(asked, ElementsAre(milliseconds(9000), milliseconds(9000)));
}

TEST_F(SecretCommands, ThatFailLeaveTheirServersOutAndNoOther) {
  const std::string count = scratch_.path() + "/count";
  const SecretCommand works{script("echo y"), milliseconds(9000)};
  const SecretCommand fails{script("echo x >> " + count + "; exit 1"), milliseconds(9000)};
  Config config = config_of({works});
  config.servers.push_back(config_of({works, fails}).servers[0]);
  config.servers.push_back(config_of({fails}).servers[0]);
  config.servers.push_back(config_of({works}).servers[0]);
  Secrets secrets{{{{""}}, {{"", ""}}, {{""}}, {{""}}}};
  run_secret_commands(config, [](milliseconds) {}, secrets);
  EXPECT_THAT(secrets.servers.at(0).values, ElementsAre("y"));
  EXPECT_THAT(secrets.servers.at(1).values, IsEmpty());
  EXPECT_THAT(secrets.servers.at(2).values, IsEmpty());
  EXPECT_THAT(secrets.servers.at(3).values, ElementsAre("y"));
  EXPECT_TRUE(config.servers[0].is_usable());
  EXPECT_FALSE(config.servers[1].is_usable());
  EXPECT_FALSE(config.servers[2].is_usable());
  EXPECT_TRUE(config.servers[3].is_usable());
  EXPECT_EQ(run_script("wc -l < " + count), "1");
}

TEST_F(SecretCommands, LeaveSecretsOfOtherOriginsAlone) {
  Config config = config_of({});
  config.servers[0].secrets = {{"A", "/s/a"},
                               {"B", "b", SecretDelivery::file, SecretOrigin::credential}};
  Secrets secrets{{{{"of a file", "of a credential"}}}};
  run_secret_commands(config, [](milliseconds) {}, secrets);
  EXPECT_THAT(secrets.servers.at(0).values, ElementsAre("of a file", "of a credential"));
}

}  // namespace
}  // namespace cellblock::daemon
