// The audit log through the end of any process, a full disk and a hand in the file: nothing is
// answered that is not recorded, and whatever is wrong is found.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/integration/daemon.h"

namespace cellblock::harness {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

struct Verified {
  int status = -1;
  std::string text;
};

class Audit : public testing::Test {
 protected:
  void SetUp() override {
    if (!running_as_root()) GTEST_SKIP() << "needs root: it kills other users' processes";
  }

  void TearDown() override {
    host_.reset();
    daemon_.reset();
  }

  void start(std::string_view audit = "") {
    daemon_.emplace();
    start_over(audit);
  }

  void start_over(std::string_view audit) {
    daemon_->start(
        {.servers = std::string(audit) + "\n" + server_of_build(*daemon_, "echo", "echo_server")});
    if (HasFatalFailure()) return;
    host_.emplace(daemon_->connect());
    host_->open_session("echo");
  }

  /// True when the server itself has answered.
  bool call() {
    const json answer = host_->call("echo", {{"text", "hello"}});
    if (answer.contains("result") && !answer["result"].value("isError", false)) {
      ++answered_;
      return true;
    }
    EXPECT_EQ(answer["result"]["_meta"]["cellblock/error"]["code"], "audit_unavailable")
        << answer.dump();
    return false;
  }

  std::string log_path() const { return daemon_->directory().path("log/audit.log"); }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::size_t recorded_calls() const {
    std::size_t count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(daemon_->directory().path("log"))) {
      std::istringstream text(text_of(entry.path()));
      for (std::string line; std::getline(text, line);) {
        const json parsed = json::parse(line, nullptr, false);
        if (!parsed.is_object() || parsed.value("kind", "") != "call") continue;
        if (parsed.value("outcome", "") == "ok") ++count;
      }
    }
    return count;
  }

  Verified audit(std::vector<std::string> words) const {
    words.insert(words.begin(), "audit");
    words.insert(words.end(), {"--log", log_path()});
    const auto command = daemon_->command(words, User{});
    Verified verified;
    verified.status = WEXITSTATUS(command->wait().value_or(-1));
    verified.text = command->output().all() + command->errors().all();
    return verified;
  }

  void kill_writer() const {
    const int pid = daemon_->processes_named("cellblock-audit").at(0);
    const Fd writer(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    ::kill(pid, SIGKILL);
    EXPECT_TRUE(wait_for_end(writer.get()));
  }

  std::optional<Daemon> daemon_;
  std::optional<Host> host_;
  std::size_t answered_ = 0;
};

TEST_F(Audit, OfAnOrderlyLifeIsWholeAndHasEveryCall) {
  start();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(call());
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_EQ(recorded_calls(), 20U);
  const Verified verified = audit({"verify"});
  EXPECT_EQ(verified.status, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("whole"));
  EXPECT_THAT(text_of(log_path()), HasSubstr("arguments_sha256"));
}

TEST_F(Audit, HasNoCredentialThatACallIsNamedAfter) {
  start("[audit]\narguments = \"redacted\"");
  const std::string key = "ghp_" + std::string(36, 'a');
  const std::string long_name = std::string(120, 'x') + " " + key;
  host_->call(key);
  host_->call(long_name);
  EXPECT_EQ(daemon_->stop(), 0);
  const std::string log = text_of(log_path());
  EXPECT_THAT(log, HasSubstr(R"("tool":"[redacted: github_token]")"));
  EXPECT_THAT(log, testing::Not(HasSubstr("ghp_")));
}

TEST_F(Audit, HasAnAnchorInTheStatusThatHoldsLater) {
  start();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(call());
  const auto asked = daemon_->command({"status", "--json"});
  ASSERT_EQ(WEXITSTATUS(asked->wait().value_or(-1)), 0) << asked->errors().all();
  const json audit_status = json::parse(asked->output().all())["audit"];
  EXPECT_EQ(audit_status["written"], true);
  const std::string anchor = audit_status["anchor"];
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(call());
  EXPECT_EQ(daemon_->stop(), 0);
  const Verified verified = audit({"verify", "--anchor", anchor});
  EXPECT_EQ(verified.status, 0) << verified.text;
  std::string other = anchor;
  other.back() = other.back() == '0' ? '1' : '0';
  EXPECT_EQ(audit({"verify", "--anchor", other}).status, 10);
}

TEST_F(Audit, LosesNothingThatWasAnsweredWhenItsWriterIsKilledAgainAndAgain) {
  start();
  for (int life = 0; life < 4; ++life) {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(call());
    kill_writer();
    while (!call()) {
    }
  }
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_GE(recorded_calls(), answered_);
  const Verified verified = audit({"verify"});
  EXPECT_EQ(verified.status, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("was killed"));
}

TEST_F(Audit, HasEveryAnsweredCallWhenEverythingIsKilledAtOnce) {
  start();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(call());
  daemon_->process().signal(SIGKILL);
  EXPECT_THAT(daemon_->survivors(), testing::IsEmpty());
  ::unlink(daemon_->socket().c_str());
  EXPECT_GE(recorded_calls(), answered_);
  const Verified verified = audit({"verify"});
  EXPECT_EQ(verified.status, 0) << verified.text;
}

TEST_F(Audit, GoesOnInOneChainOverARestartOfTheDaemon) {
  start();
  EXPECT_TRUE(call());
  EXPECT_EQ(daemon_->stop(), 0);
  host_.reset();
  start_over("");
  EXPECT_TRUE(call());
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_EQ(recorded_calls(), 2U);
  EXPECT_EQ(audit({"verify"}).status, 0);
}

TEST_F(Audit, FindsAFlippedByteARemovedLineAndACutEnd) {
  start();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(call());
  EXPECT_EQ(daemon_->stop(), 0);
  const std::string sound = text_of(log_path());
  const Verified whole = audit({"verify"});
  ASSERT_EQ(whole.status, 0) << whole.text;
  const std::string anchor = whole.text.substr(whole.text.rfind("anchor:\n") + 8);

  std::string flipped = sound;
  flipped[flipped.find("\"tool\":\"echo\"") + 9] = 'E';
  daemon_->directory().write("log/audit.log", flipped, 0600);
  EXPECT_EQ(audit({"verify"}).status, 10);
  EXPECT_THAT(audit({"verify"}).text, HasSubstr("altered"));

  std::string shorter = sound;
  const std::size_t third = shorter.find('\n', shorter.find('\n') + 1) + 1;
  shorter.erase(third, shorter.find('\n', third) + 1 - third);
  daemon_->directory().write("log/audit.log", shorter, 0600);
  EXPECT_EQ(audit({"verify"}).status, 10);
  EXPECT_THAT(audit({"verify"}).text, HasSubstr("missing"));

  std::string cut = sound;
  cut.erase(cut.rfind('\n', cut.size() - 2) + 1);
  daemon_->directory().write("log/audit.log", cut, 0600);
  EXPECT_EQ(audit({"verify", "--anchor", anchor.substr(0, anchor.find('\n'))}).status, 10);
}

TEST_F(Audit, IsKeptInSoManyFilesOfSuchASizeAsOneChain) {
  start("[audit]\nmax_bytes = \"64KiB\"\nkeep = 2");
  for (int i = 0; i < 400; ++i) EXPECT_TRUE(call());
  EXPECT_EQ(daemon_->stop(), 0);
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(daemon_->directory().path("log"))) {
    bytes += entry.file_size();
  }
  EXPECT_LT(bytes, 3U * (80U << 10));
  EXPECT_GT(bytes, 128U << 10);
  const Verified verified = audit({"verify"});
  EXPECT_EQ(verified.status, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("3 files"));
}

TEST_F(Audit, IsShownToWhoMayReadItAndToNobodyElse) {
  start();
  EXPECT_TRUE(call());
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_THAT(audit({"search", "--kind", "call"}).text, HasSubstr("echo echo"));
  EXPECT_THAT(audit({"search", "--server", "other"}).text,
              StartsWith("cellblock: no record of this log names a server \"other\";"));
  EXPECT_THAT(audit({"tail", "-n", "1"}).text, HasSubstr("log closed"));
  const auto refused = daemon_->command({"audit", "tail", "--log", log_path()}, alice);
  EXPECT_NE(refused->wait(), 0);
  EXPECT_THAT(refused->errors().all(), HasSubstr("as root"));
}

/// The log's directory is a disk of its own, which can be filled.
class AuditDisk : public Audit {
 protected:
  void SetUp() override {
    Audit::SetUp();
    if (IsSkipped()) return;
    daemon_.emplace();
    disk_ = daemon_->directory().make_directory("log", 0755);
    if (::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=256k,mode=0755") != 0) {
      disk_.clear();
      GTEST_SKIP() << "needs CAP_SYS_ADMIN: it mounts a small tmpfs";
    }
  }

  void TearDown() override {
    const bool started = host_.has_value();
    host_.reset();
    if (daemon_ && !disk_.empty()) {
      if (started) static_cast<void>(daemon_->stop());
      EXPECT_EQ(::umount2(disk_.c_str(), MNT_DETACH), 0);
    }
    daemon_.reset();
  }

  void fill() const {
    std::ofstream filler(disk_ + "/filler");
    const std::string block(4096, 'x');
    while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }

  std::string disk_;
};

TEST_F(AuditDisk, ThatIsFullRefusesNewCallsAndLosesNothingThatWasAnswered) {
  start_over("");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(call());
  fill();
  while (call()) {
  }
  EXPECT_GE(recorded_calls(), answered_);
  std::filesystem::remove(disk_ + "/filler");
  while (!call()) {
  }
  EXPECT_EQ(daemon_->stop(), 0);
  EXPECT_GE(recorded_calls(), answered_);
  const Verified verified = audit({"verify"});
  EXPECT_EQ(verified.status, 0) << verified.text;
  EXPECT_THAT(verified.text, HasSubstr("could not write"));
}

TEST_F(AuditDisk, ThatIsFullLetsCallsGoOnWhereTheAdminHasChosenAnAlarm) {
  start_over("[audit]\non_failure = \"alarm\"");
  fill();
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(call());
}

}  // namespace
}  // namespace cellblock::harness
