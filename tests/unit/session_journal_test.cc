#include "supervisor/gateway/session/session_journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/cli/bridge/journal_page.h"
#include "policy/encoding/base64.h"

// What a gateway writes (SessionJournal), read by the bridge as if it had been killed just then.
namespace cellblock {
namespace {

using gateway::JournalMemory;
using gateway::SessionJournal;
using nlohmann::json;
using testing::HasSubstr;

class Journal : public testing::Test {
 protected:
  void SetUp() override {
    auto page = cli::JournalPage::make();
    ASSERT_TRUE(page.has_value());
    page_.emplace(*std::move(page));
    auto memory = JournalMemory::map(Fd(::fcntl(page_->descriptor(), F_DUPFD_CLOEXEC, 0)));
    ASSERT_NE(memory, nullptr);
    journal_.emplace(std::move(memory),
                     SessionJournal::Source{
                         .memory_version = [this] { return version_; },
                         .memory = [this] { return memory_; },
                         .is_owed = [this](std::string_view id) { return owed_.contains(id); }});
  }

  void ask(const std::string& id, CallShape shape = CallShape::request) {
    owed_.insert(id);
    journal_->asked(id, shape);
  }

  cli::CrashedSession crash() { return page_->after_crash(R"({"before":1})"); }

  static std::vector<json> lines_of(const std::string& text) {
    std::vector<json> lines;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      lines.push_back(json::parse(text.substr(begin, end - begin), nullptr, false));
      begin = end + 1;
    }
    return lines;
  }

  static std::string unread_in(const std::string& resume) {
    return base64_bytes(json::parse(resume)["unread"].get<std::string>()).value();
  }

  std::optional<cli::JournalPage> page_;
  std::optional<SessionJournal> journal_;
  std::uint64_t version_ = 1;
  std::optional<std::string> memory_ = R"({"level":"error"})";
  std::set<std::string, std::less<>> owed_;
};

TEST_F(Journal, BeforeItsFirstTurnSaysWhatTheGatewayWasTold) {
  EXPECT_EQ(crash().resume, R"({"before":1})");
  EXPECT_EQ(crash().answers, "");
  EXPECT_EQ(json::parse(page_->after_crash("").resume),
            json({{"memory", nullptr}, {"unread", ""}}));
}

TEST_F(Journal, HasEachCallInFlightAnsweredOnceInItsShape) {
  journal_->begins_with("");
  ask("1");
  ask("\"two\"", CallShape::legacy_tool);
  ask("3", CallShape::modern_tool);
  journal_->turn_ends("", 0);
  const auto lines = lines_of(crash().answers);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["id"], 1);
  EXPECT_EQ(lines[0]["error"]["data"]["code"], "server_failed");
  EXPECT_THAT(lines[0]["error"]["message"].get<std::string>(), HasSubstr("is not known"));
  EXPECT_EQ(lines[1]["id"], "two");
  EXPECT_EQ(lines[1]["result"]["isError"], true);
  EXPECT_FALSE(lines[1]["result"].contains("resultType"));
  EXPECT_EQ(lines[2]["result"]["resultType"], "complete");
}

TEST_F(Journal, HasACallAnsweredOnceHoweverItsIdIsSpelled) {
  const std::string call = R"({"jsonrpc":"2.0","id":"a\u0062","method":"tools/call"})";
  const std::string number = R"({"jsonrpc":"2.0","id":10,"method":"tools/call"})";
  const std::string others = R"({"jsonrpc":"2.0","id":"10","method":"ping"})"
                             "\n"
                             R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})";
  journal_->begins_with(call + "\n" + number + "\n" + others + "\n");
  ask(R"("\u0061b")");
  ask("1e1");
  const auto lines = lines_of(crash().answers);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["id"], "ab");
  EXPECT_EQ(lines[1]["id"], 10);
  EXPECT_EQ(lines[2]["id"], "10");
  EXPECT_EQ(lines[3]["id"], 1.5);
}

TEST_F(Journal, ForgetsCallsThatTheHostHasBeenAnsweredAltogether) {
  ask("1");
  ask("2");
  owed_.erase("1");
  journal_->turn_ends("", 10);  // the host has not taken it yet
  EXPECT_EQ(lines_of(crash().answers.substr(1)).size(), 2U);
  journal_->turn_ends("", 0);
  const auto lines = lines_of(crash().answers);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["id"], 2);
}

TEST_F(Journal, EndsALineThatWasNotWrittenToItsEnd) {
  ask("1");
  journal_->turn_ends("", 10);
  EXPECT_EQ(crash().answers[0], '\n');
  journal_->turn_ends("", 0);
  EXPECT_EQ(crash().answers[0], '{');
}

TEST_F(Journal, GivesWhatNobodyHasBegunWithToTheNextGateway) {
  journal_->begins_with("whatever\n{\"half");
  journal_->turn_ends("{\"half", 0);
  const auto session = crash();
  EXPECT_EQ(session.answers, "");
  EXPECT_EQ(json::parse(session.resume)["memory"], json({{"level", "error"}}));
  EXPECT_EQ(unread_in(session.resume), "{\"half");
}

TEST_F(Journal, HasLinesThatMayHaveBeenBegunAnsweredAndNeverSaidAgain) {
  const std::string call =
      R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pay"}})";
  const std::string notification = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
  journal_->begins_with(call + "\n" + notification + "\nno json\n{\"half");
  ask("7", CallShape::legacy_tool);
  const auto session = crash();
  const auto lines = lines_of(session.answers);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["id"], 7);
  EXPECT_EQ(lines[0]["result"]["isError"], true);
  EXPECT_EQ(unread_in(session.resume), "{\"half");
}

TEST_F(Journal, HasTheMemoryThatIsNew) {
  journal_->turn_ends("", 0);
  memory_ = R"({"level":"debug"})";
  journal_->turn_ends("", 0);
  EXPECT_EQ(json::parse(crash().resume)["memory"]["level"], "error");
  version_ = 2;
  journal_->turn_ends("", 0);
  EXPECT_EQ(json::parse(crash().resume)["memory"]["level"], "debug");
}

TEST_F(Journal, OfASessionThatCannotGoOnSaysSoAndStillAnswers) {
  memory_.reset();
  ask("1");
  journal_->turn_ends("", 0);
  EXPECT_EQ(crash().resume, "");
  EXPECT_EQ(lines_of(crash().answers).size(), 1U);
}

TEST_F(Journal, OfInputThatIsTooLongToBeKeptSaysThatItCannotGoOn) {
  journal_->begins_with(std::string(200U << 10, 'x'));
  ask("1");
  EXPECT_EQ(crash().resume, "");
  EXPECT_EQ(lines_of(crash().answers).size(), 1U);
  journal_->begins_with(std::nullopt);
  EXPECT_EQ(crash().resume, "");
  journal_->turn_ends("", 0);
  EXPECT_NE(crash().resume, "");
}

TEST(JournalMemory, IsOnlyMemoryOfItsSizeThatIsSealed) {
  Fd unsealed(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), session_journal_bytes), 0);
  EXPECT_EQ(JournalMemory::map(unsealed), nullptr);
  Fd small(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(small.get(), 4096), 0);
  ASSERT_EQ(::fcntl(small.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_EQ(JournalMemory::map(small), nullptr);
  EXPECT_EQ(JournalMemory::map(Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))), nullptr);
}

}  // namespace
}  // namespace cellblock
