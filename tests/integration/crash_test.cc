// Early crashes: the caller has the cause as soon as the fact exists. Only the silent server is
// waited for, and its handshake timeout is made short.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <iterator>
#include <optional>
#include <tuple>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

class EarlyCrash : public testing::TestWithParam<Mode> {
 protected:
  EarlyCrash() : daemon_(GetParam()) {}

  void SetUp() override {
    if (!running_as_root() && GetParam() != Mode::user) GTEST_SKIP() << "needs root";
  }

  /// Declares "broken" as that command, and attaches to it.
  json attach_to(const std::string& table) {
    daemon_.start({.servers = table});
    if (HasFatalFailure()) return {};
    host_.emplace(daemon_.connect());
    return host_->attach("broken");
  }

  json attach_to_command(const std::string& path) {
    return attach_to(server_table(daemon_, "broken", {path}));
  }

  json attach_to_behaviour(std::string_view behaviour, std::string_view more = "") {
    return attach_to(
        server_of_build(daemon_, "broken", "misbehaving_server", {std::string(behaviour)}, more));
  }

  /// What the host's first request says when the server fails after exec.
  json first_answer() {
    return host_->request("initialize", {{"protocolVersion", "2025-11-25"},
                                         {"capabilities", json::object()},
                                         {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
  }

  /// A fault after exec may be known before or after the answer to attach.
  json failure_of_behaviour(std::string_view behaviour, std::string_view more = "") {
    json answer = attach_to_behaviour(behaviour, more);
    return answer.contains("error") ? answer : first_answer();
  }

  std::string file(std::string_view name, std::string_view content, unsigned mode = 0755) {
    return daemon_.directory().write(fmt::format("servers/{}", name), content, mode);
  }

  /// The same facts, asked for afterwards by another connection.
  json status() {
    Host other = daemon_.connect();
    const json answer = other.request("cellblock/status");
    return answer.value("/result/servers/0"_json_pointer, json());
  }

  void expect_failed_step(const json& answer, std::string_view step, std::string_view words,
                          std::string_view state = "failed") {
    ASSERT_TRUE(answer.contains("error")) << answer.dump();
    EXPECT_EQ(answer["error"]["code"], -31003);
    EXPECT_EQ(answer["error"]["data"]["code"], "server_failed");
    EXPECT_EQ(answer["error"]["data"]["facts"]["step"], step) << answer.dump(2);
    EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr(words));
    EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr("broken"));
    expect_status_has("/last_end/facts/step", step);
    expect_status_has("/state", state);
  }

  void expect_crash(const json& answer, std::string_view kind, std::string_view words) {
    ASSERT_TRUE(answer.contains("error")) << answer.dump();
    EXPECT_EQ(answer["error"]["data"]["code"], "server_failed") << answer.dump(2);
    EXPECT_EQ(answer["error"]["data"]["facts"]["kind"], kind) << answer.dump(2);
    EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr(words));
    expect_status_has("/last_end/facts/kind", kind);
    expect_status_has("/state", "failed");
  }

  void expect_status_has(const std::string& pointer, const json& value) {
    const json now = status();
    EXPECT_EQ(now.value(json::json_pointer(pointer), json()), value) << now.dump(2);
  }

  Daemon daemon_;
  std::optional<Host> host_;
};

INSTANTIATE_TEST_SUITE_P(Modes, EarlyCrash, testing::Values(Mode::system, Mode::user),
                         name_of_mode);

// --- found before a program runs -----------------------------------------------------------------

TEST_P(EarlyCrash, SaysThatTheCommandIsMissing) {
  const std::string gone = daemon_.directory().make_directory("servers") + "/no-such-program";
  expect_failed_step(attach_to_command(gone), "exec", "the command does not exist inside the cell",
                     "broken");
}

TEST_P(EarlyCrash, SaysThatTheCommandIsADirectory) {
  const std::string directory = daemon_.directory().make_directory("servers/directory");
  expect_failed_step(attach_to_command(directory), "exec", "is a directory", "broken");
}

TEST_P(EarlyCrash, SaysThatTheCommandIsNotExecutable) {
  const std::string plain = file("plain", "#!/bin/sh\nexit 0\n", 0644);
  expect_failed_step(attach_to_command(plain), "exec", "not executable", "broken");
}

TEST_P(EarlyCrash, SaysThatTheCommandHasAnUnknownFormat) {
  const std::string text = file("text", "this is neither a program nor a script\n");
  expect_failed_step(attach_to_command(text), "exec",
                     "neither a program nor a script with a #! line");
}

TEST_P(EarlyCrash, SaysThatTheInterpreterOfAScriptIsMissing) {
  const std::string script = file("script", "#!/no/such/interpreter\nhello\n");
  expect_failed_step(attach_to_command(script), "exec",
                     "the interpreter on the command's #! line does not exist");
}

TEST_P(EarlyCrash, SaysThatTheCommandIsBuiltForAnotherArchitecture) {
  // An ELF header of a 64-bit little-endian program for AArch64 (e_machine 183), and nothing else.
  std::string header(64, '\0');
  header.replace(0, 7,
                 "\x7f"
                 "ELF\x02\x01\x01");
  header[16] = 2;
  header[18] = static_cast<char>(183);
  header[20] = 1;
  header[52] = 64;
  header[54] = 56;
  expect_failed_step(attach_to_command(file("foreign", header)), "exec", "another architecture");
}

// --- found when the program ends -----------------------------------------------------------------

TEST_P(EarlyCrash, NamesTheSharedLibraryThatIsMissing) {
  const json answer = [this] {
    json attached = attach_to(server_of_build(daemon_, "broken", "linked_to_missing_library"));
    return attached.contains("error") ? attached : first_answer();
  }();
  expect_crash(answer, "exited", "libmissing_library.so");
  EXPECT_EQ(answer["error"]["data"]["facts"]["exit_code"], 127);
}

TEST_P(EarlyCrash, ReportsAnExitWithoutErrorAsACrash) {
  const json answer = failure_of_behaviour("exit-zero");
  expect_crash(answer, "exited", "exited with code 0");
  EXPECT_EQ(answer["error"]["data"]["verdict"], "early_crash");
}

TEST_P(EarlyCrash, ShowsTheLastLinesOfStderr) {
  const json answer = failure_of_behaviour("exit-one");
  expect_crash(answer, "exited", "Error: no such database: inventory");
  EXPECT_EQ(answer["error"]["data"]["facts"]["exit_code"], 1);
  EXPECT_THAT(answer["error"]["data"]["stderr"],
              Contains(json("Error: no such database: inventory")));
  expect_status_has("/last_end/verdict", "early_crash");
}

TEST_P(EarlyCrash, NamesTheSignalThatKilledTheServer) {
  const json answer = failure_of_behaviour("die-by-signal");
  expect_crash(answer, "signalled", "SIGABRT");
  EXPECT_EQ(answer["error"]["data"]["facts"]["signal"], SIGABRT);
}

TEST_P(EarlyCrash, NamesTheCallThatTheFilterRefused) {
  const json answer = failure_of_behaviour("make-foreign-call");
  expect_crash(answer, "killed_by_filter", "x32");
  EXPECT_FALSE(answer["error"]["data"]["facts"]["syscall"].is_null());
}

TEST_P(EarlyCrash, SeesThatAServerClosedItsOutputAndLives) {
  const json answer = failure_of_behaviour("close-stdout");
  ASSERT_TRUE(answer.contains("error")) << answer.dump();
  EXPECT_EQ(answer["error"]["data"]["code"], "server_failed");
  EXPECT_THAT(answer["error"]["message"].get<std::string>(), HasSubstr("closed"));
  expect_status_has("/state", "failed");
}

TEST_P(EarlyCrash, WaitsOnlyForASilentServerAndOnlyTheHandshakeTimeout) {
  const json answer =
      failure_of_behaviour("stay-silent", "start = { handshake_timeout = \"300ms\" }");
  ASSERT_TRUE(answer.contains("error")) << answer.dump();
  EXPECT_EQ(answer["error"]["code"], -31004);
  EXPECT_EQ(answer["error"]["data"]["code"], "handshake_timeout");
  expect_status_has("/state", "failed");
}

TEST_P(EarlyCrash, TellsASilentServerWithoutANetworkHowToGiveItOne) {
  const json answer =
      failure_of_behaviour("wait-for-the-network", "start = { handshake_timeout = \"1s\" }");
  ASSERT_TRUE(answer.contains("error")) << answer.dump();
  EXPECT_EQ(answer["error"]["data"]["code"], "handshake_timeout");
  EXPECT_THAT(answer["error"]["message"].get<std::string>(),
              HasSubstr("it was refused \"resolve api.example.org\""));
  EXPECT_THAT(answer["error"]["data"]["advice"].get<std::string>(),
              HasSubstr("network = \"egress\" and egress.allow = [\"api.example.org:443\"]"));
}

TEST_P(EarlyCrash, SaysOfAServerThatWasKilledInACallThatItWasKilled) {
  const json attached = attach_to_behaviour("die-in-a-call");
  ASSERT_TRUE(attached.contains("result")) << attached.dump();
  ASSERT_TRUE(first_answer().contains("result"));
  const json answer = host_->call("echo", {{"text", "hello"}});
  const json error = answer["result"]["_meta"]["cellblock/error"];
  EXPECT_EQ(error["verdict"], "crash") << answer.dump(2);
  EXPECT_EQ(error["facts"]["signal"], SIGKILL);
  EXPECT_THAT(error["cause"].get<std::string>(), HasSubstr("killed by signal 9 (SIGKILL)"));
}

TEST_P(EarlyCrash, ShowsTheNoiseOfAServerThatPrintsItsUsage) {
  const json answer = failure_of_behaviour("print-noise-and-exit");
  expect_crash(answer, "exited", "exited with code 2");
}

// --- answers that cannot be read -----------------------------------------------------------------

struct UnreadableAnswers {
  std::string_view behaviour;
  std::string_view cause;
};

constexpr UnreadableAnswers unreadable[] = {
    {"mark-byte-order", "wrote a byte order mark before its messages"},
    {"write-utf16", "wrote its messages in UTF-16"},
    {"write-utf16-without-mark", "wrote its messages in UTF-16"},
    {"write-headers", "wrote Content-Length headers before its messages"},
};

class UnreadableServer : public testing::TestWithParam<std::tuple<Mode, UnreadableAnswers>> {
 protected:
  UnreadableServer() : daemon_(mode()) {}

  void SetUp() override {
    if (!running_as_root() && mode() != Mode::user) GTEST_SKIP() << "needs root";
    // Longer than a test may take: what is waited for that long fails the test.
    const std::string table = server_of_build(daemon_, "broken", "misbehaving_server",
                                              {std::string(std::get<1>(GetParam()).behaviour)},
                                              "start = { handshake_timeout = \"10m\" }");
    daemon_.start({.servers = table});
    if (HasFatalFailure()) return;
    host_.emplace(daemon_.connect());
    ASSERT_TRUE(host_->attach("broken").contains("result"));
  }

  static Mode mode() { return std::get<0>(GetParam()); }

  static void expect_named(const json& answer) {
    ASSERT_TRUE(answer.contains("error")) << answer.dump();
    EXPECT_EQ(answer["error"]["data"]["code"], "server_failed") << answer.dump(2);
    EXPECT_THAT(answer["error"]["message"].get<std::string>(),
                HasSubstr(std::get<1>(GetParam()).cause));
    EXPECT_THAT(answer["error"]["data"]["advice"].get<std::string>(), HasSubstr("UTF-8"));
  }

  Daemon daemon_;
  std::optional<Host> host_;
};

INSTANTIATE_TEST_SUITE_P(Modes, UnreadableServer,
                         testing::Combine(testing::Values(Mode::system, Mode::user),
                                          testing::ValuesIn(unreadable)),
                         [](const auto& one) {
                           std::string name =
                               one.index < std::size(unreadable) ? "system_" : "user_";
                           for (const char c : std::get<1>(one.param).behaviour)
                             name += c == '-' ? '_' : c;
                           return name;
                         });

TEST_P(UnreadableServer, IsNamedAtOnceToAHostOfTheOldEra) {
  expect_named(host_->request("initialize", {{"protocolVersion", "2025-11-25"},
                                             {"capabilities", json::object()},
                                             {"clientInfo", {{"name", "t"}, {"version", "1"}}}}));
}

TEST_P(UnreadableServer, IsNamedAtOnceToAHostOfTheNewEra) {
  const json meta = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                     {"io.modelcontextprotocol/clientInfo", {{"name", "t"}, {"version", "1"}}},
                     {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  expect_named(host_->request("server/discover", {{"_meta", meta}}));
}

// --- no crash ------------------------------------------------------------------------------------

TEST_P(EarlyCrash, PassesOverNoiseBeforeJsonAndCountsIt) {
  const json attached = attach_to_behaviour("greet-before-json");
  ASSERT_TRUE(attached.contains("result")) << attached.dump();
  EXPECT_TRUE(first_answer().contains("result"));
  expect_status_has("/cells/0/noise_lines", 2);
  expect_status_has("/state", "ready");
}

TEST_P(EarlyCrash, ReadsMessagesThatAreLinesWhateverStandsBeforeThem) {
  const json attached = attach_to_behaviour("write-headers-and-lines");
  ASSERT_TRUE(attached.contains("result")) << attached.dump();
  EXPECT_TRUE(first_answer().contains("result"));
  expect_status_has("/state", "ready");
}

TEST_P(EarlyCrash, AnswersEveryPendingCallWhenTheServerEndsInASessionWhichGoesOn) {
  const json attached = attach_to_behaviour("exit-after-first-answer");
  ASSERT_TRUE(attached.contains("result")) << attached.dump();
  ASSERT_TRUE(first_answer().contains("result"));
  const json answer = host_->call("echo", {{"text", "hello"}});
  ASSERT_TRUE(answer.contains("result")) << answer.dump();
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_EQ(answer["result"]["_meta"]["cellblock/error"]["facts"]["exit_code"], 3);
  EXPECT_THAT(answer["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr("lost the connection to the database"));
  EXPECT_TRUE(host_->request("ping").contains("result"));
}

TEST_P(EarlyCrash, IsForgottenByARestart) {
  ASSERT_TRUE(failure_of_behaviour("exit-one").contains("error"));
  expect_status_has("/state", "failed");
  Host other = daemon_.connect();
  EXPECT_TRUE(other.request("cellblock/restart", {{"server", "broken"}}).contains("result"));
  expect_status_has("/state", "stopped");
}

}  // namespace
}  // namespace cellblock::harness
