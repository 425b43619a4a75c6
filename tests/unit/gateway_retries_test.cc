#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "policy/failures/end_verdict.h"
#include "supervisor/gateway/route/retries.h"

namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;

Failure ended(Verdict verdict) {
  return {.code = FailureCode::server_failed, .verdict = std::string(name_of(verdict))};
}

class RetriesTest : public ::testing::Test {
 protected:
  RetriesTest() { server_.calls.tools = {{.name = "read", .repeatable = Repeatable::yes}}; }

  void went(const std::string& id, const std::string& tool) {
    went_line(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":")" +
              tool + R"("}})");
    in_flight_.insert(id);
  }
  void went_line(std::string line) {
    const std::size_t size = line.size();
    line.resize(size + MessageScanner::padding);
    const auto text = std::string_view(line).substr(0, size);
    retries_.went(text, *scanner_.scan(text), states(), now_);
  }
  std::vector<std::string> taken(Verdict verdict = Verdict::crash) {
    std::vector<std::string> ids;
    for (const HeldMessage& held : retries_.take(ended(verdict), states(), now_)) {
      ids.emplace_back(held.message.id.in(held.line));
      in_flight_.erase(ids.back());
    }
    return ids;
  }
  CallStates states() const {
    return {.is_in_flight =
                [this](std::string_view id) { return in_flight_.contains(std::string(id)); },
            .is_unsent = [this](std::string_view id) { return unsent_.contains(std::string(id)); }};
  }

  Server server_;
  MessageScanner scanner_;
  Retries retries_{server_};
  std::set<std::string> in_flight_, unsent_;
  Time now_{};
};

using Ids = std::vector<std::string>;

TEST_F(RetriesTest, OnlyWhatDoesNoHarmTwiceIsMadeAgain) {
  server_.calls.queue.most = 1;
  unsent_ = {"3"};
  went("1", "read");
  went("2", "write");
  went("3", "write");
  EXPECT_EQ(taken(), (Ids{"1", "3"}));
}

TEST_F(RetriesTest, OnlyAfterAnEndThatMayNotComeAgain) {
  struct Row {
    const char* sentence;
    Verdict verdict;
    bool is_retried;
  };
  for (const Row& row :
       {Row{"a crash may not", Verdict::crash, true},
        Row{"nor an exit", Verdict::ordinary_exit, true},
        Row{"nor want of memory", Verdict::out_of_memory, true},
        Row{"nor a closed stdout", Verdict::closed_stdout, true},
        Row{"what did not start will not", Verdict::never_ran, false},
        Row{"nor what ends before it answers", Verdict::early_crash, false},
        Row{"nor what is silent", Verdict::handshake_timeout, false},
        Row{"what a filter kills it kills again", Verdict::killed_by_filter, false},
        Row{"noise comes again", Verdict::too_much_noise, false},
        Row{"what was stopped shall not", Verdict::stopped, false}}) {
    went("1", "read");
    EXPECT_EQ(taken(row.verdict).size(), row.is_retried ? 1U : 0U) << row.sentence;
    in_flight_.clear();
    retries_.forget("1");
  }
  EXPECT_FALSE(may_do_better({.code = FailureCode::timeout, .verdict = "crash"}));
}

TEST_F(RetriesTest, ACallIsMadeAgainSoOftenAndNoMore) {
  server_.calls.retries = 2;
  for (int attempt = 0; attempt < 2; ++attempt) {
    went("1", "read");
    EXPECT_EQ(taken(), Ids{"1"}) << attempt;
  }
  went("1", "read");
  EXPECT_EQ(taken(), Ids{});
}

TEST_F(RetriesTest, WhoSetsNoneHasNone) {
  server_.calls.retries = 0;
  went("1", "read");
  EXPECT_EQ(taken(), Ids{});
}

TEST_F(RetriesTest, NothingIsMadeAgainAfterItsDeadline) {
  server_.calls.tools[0].time.deadline = 5s;
  went("1", "read");
  now_ += 4s;
  EXPECT_EQ(taken(), Ids{"1"});
  went("1", "read");
  now_ += 1s;
  EXPECT_EQ(taken(), Ids{}) << "counted from the first time";
}

TEST_F(RetriesTest, WhatWasAnsweredIsNotMadeAgain) {
  went("1", "read");
  in_flight_.clear();
  EXPECT_EQ(taken(), Ids{});
}

TEST_F(RetriesTest, AnIdThatIsUsedAgainIsAnotherCall) {
  server_.calls.retries = 1;
  went("1", "read");
  EXPECT_EQ(taken(), Ids{"1"});
  retries_.forget("1");  // the host cancelled it
  went("1", "write");
  EXPECT_EQ(taken(), Ids{});
  in_flight_.clear();
  went("1", "read");
  EXPECT_EQ(taken(), Ids{"1"}) << "the first attempt of that one";
}

TEST_F(RetriesTest, WhatIsKeptIsBounded) {
  for (int i = 0; i < 200; ++i) went(std::to_string(i), "read");
  EXPECT_EQ(taken().size(), Retries::most);
  for (int i = 0; i < 200; ++i) retries_.forget(std::to_string(i));
  in_flight_.clear();
  for (int i = 0; i < 5; ++i) {
    in_flight_.insert(std::to_string(i));
    went_line(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) +
              R"(,"method":"tools/call","params":{"name":"read","arguments":{"a":")" +
              std::string(1'500'000, 'a') + R"("}}})");
  }
  EXPECT_EQ(taken().size(), 2U);
}

TEST_F(RetriesTest, EachPauseIsLongerAndUpToAHalfIsLeftToChance) {
  server_.calls.retries = 5;
  Milliseconds whole = 200ms;
  for (int attempt = 0; attempt < 5; ++attempt, whole *= 2) {
    went("1", "read");
    ASSERT_EQ(taken(), Ids{"1"});
    EXPECT_EQ(retries_.pause(0), whole);
    for (std::uint64_t random = 0; random < 1'000; ++random) {
      ASSERT_LE(retries_.pause(random), whole);
      ASSERT_GE(retries_.pause(random), whole / 2);
    }
  }
}

}  // namespace
}  // namespace cellblock::gateway
