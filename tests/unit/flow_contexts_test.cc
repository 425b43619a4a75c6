#include "policy/flows/flow_contexts.h"

#include <gmock/gmock.h>

#include <chrono>
#include <initializer_list>
#include <string>

namespace cellblock {
namespace {

using ::testing::HasSubstr;

using enum FlowLabel;
using Entry = FlowContexts::Entry;

FlowLabels set_of(std::initializer_list<FlowLabel> list) {
  FlowLabels labels;
  for (const FlowLabel label : list) labels.add(label);
  return labels;
}

class FlowContextsTest : public ::testing::Test {
 protected:
  void brings(std::uint64_t session, FlowLabel label) {
    contexts_.take({.session = session, .call = 5, .server = "web", .name = "get"},
                   set_of({label}));
  }
  bool is_trifecta(std::uint64_t session) {
    return contexts_.trifecta(session, set_of({egress})).has_value();
  }

  FlowRules rules_;
  FlowContexts contexts_{rules_};
  Instant now_{std::chrono::hours{1}};
};

TEST_F(FlowContextsTest, TheThreeComeTogetherInWhateverOrderTheTwoCame) {
  contexts_.join(1, "", Entry::fresh, now_);
  EXPECT_FALSE(is_trifecta(1));
  brings(1, untrusted);
  EXPECT_FALSE(is_trifecta(1));
  brings(1, private_data);
  EXPECT_TRUE(is_trifecta(1));
  EXPECT_FALSE(contexts_.trifecta(1, set_of({untrusted, private_data}))) << "it sends nothing";
}

TEST_F(FlowContextsTest, SaysWhatBroughtEach) {
  contexts_.join(1, "", Entry::fresh, now_);
  contexts_.take({.session = 1, .call = 4, .server = "web", .name = "fetch"},
                 set_of({untrusted, egress}));
  contexts_.take({.session = 1, .call = 9, .server = "files", .name = "read"},
                 set_of({private_data}));
  contexts_.take({.session = 1, .call = 10, .server = "other", .name = "read"},
                 set_of({private_data, untrusted}));
  EXPECT_EQ(contexts_.trifecta(1, set_of({egress})),
            "it can send to others, after untrusted content came from \"fetch\" of web (session "
            "1, call 4) and private data from \"read\" of files (session 1, call 9)");
}

TEST_F(FlowContextsTest, LetsNoNameSayMoreThanAName) {
  contexts_.join(1, "", Entry::fresh, now_);
  contexts_.take({.session = 1,
                  .call = 4,
                  .server = "web",
                  .name = "a\" of web (session 1, call 4) and private data from nothing\x1b[2K"},
                 set_of({untrusted}));
  contexts_.take({.session = 1, .call = 9, .server = "files", .name = std::string(1U << 20U, 'x')},
                 set_of({private_data}));
  const auto why = contexts_.trifecta(1, set_of({egress})).value_or("");
  EXPECT_THAT(why, HasSubstr(R"(from "a' of web)"));
  EXPECT_THAT(why, HasSubstr(R"(nothing\x1b[2K" of web)"));
  EXPECT_LT(why.size(), 600U);
}

TEST_F(FlowContextsTest, TellsEachLabelOnce) {
  contexts_.join(1, "", Entry::fresh, now_);
  const FlowStep step{.session = 1, .call = 4, .server = "web", .name = "fetch"};
  EXPECT_EQ(contexts_.take(step, set_of({untrusted, egress})), set_of({untrusted}));
  EXPECT_EQ(contexts_.take(step, set_of({untrusted, private_data})), set_of({private_data}));
  EXPECT_EQ(contexts_.take(step, FlowLabels::all()), FlowLabels());
}

TEST_F(FlowContextsTest, AllSessionsOfAContextHaveReadTheSame) {
  contexts_.join(1, "", Entry::fresh, now_);
  contexts_.join(2, "", Entry::fresh, now_);
  contexts_.join(3, "review", Entry::fresh, now_);
  brings(1, untrusted);
  brings(2, private_data);
  EXPECT_TRUE(is_trifecta(1));
  EXPECT_TRUE(is_trifecta(2));
  EXPECT_FALSE(is_trifecta(3));
}

TEST_F(FlowContextsTest, AContextOutlivesItsSessionsForAWhile) {
  contexts_.join(1, "", Entry::fresh, now_);
  brings(1, untrusted);
  brings(1, private_data);
  contexts_.leave(1, now_);
  contexts_.join(2, "", Entry::fresh, now_ + FlowContexts::lingers - std::chrono::seconds{1});
  EXPECT_TRUE(is_trifecta(2)) << "a host that comes back has forgotten nothing";
  contexts_.leave(2, now_ + FlowContexts::lingers);
  contexts_.join(3, "", Entry::fresh, now_ + 2 * FlowContexts::lingers);
  EXPECT_FALSE(is_trifecta(3));
}

TEST_F(FlowContextsTest, AContextDoesNotEndWhileOneOfItsSessionsIsThere) {
  contexts_.join(1, "", Entry::fresh, now_);
  contexts_.join(2, "", Entry::fresh, now_);
  brings(1, untrusted);
  brings(1, private_data);
  contexts_.leave(1, now_);
  contexts_.join(3, "", Entry::fresh, now_ + 3 * FlowContexts::lingers);
  EXPECT_TRUE(is_trifecta(2));
  EXPECT_TRUE(is_trifecta(3));
}

TEST_F(FlowContextsTest, ASessionThatGoesOnMayHaveReadAnything) {
  contexts_.join(1, "", Entry::resumed, now_);
  EXPECT_THAT(contexts_.trifecta(1, set_of({egress})).value_or(""), HasSubstr("before"));
  contexts_.join(2, "other", Entry::fresh, now_);
  EXPECT_FALSE(is_trifecta(2));
  contexts_.join(3, "other", Entry::resumed, now_);
  EXPECT_TRUE(is_trifecta(3)) << "that another one was there first says nothing of what it read";
  EXPECT_TRUE(is_trifecta(2));
}

TEST_F(FlowContextsTest, BeyondTheirBoundSessionsAreInTheOneWithoutAName) {
  for (std::size_t i = 0; i <= FlowContexts::most; ++i) {
    contexts_.join(i, "c" + std::to_string(i), Entry::fresh, now_);
  }
  contexts_.join(1000, "", Entry::fresh, now_);
  brings(FlowContexts::most, untrusted);
  brings(FlowContexts::most, private_data);
  EXPECT_TRUE(is_trifecta(1000));
  EXPECT_FALSE(is_trifecta(0));
}

TEST_F(FlowContextsTest, AContextThatBeginsAfterOthersFoundNoRoomHasReadWhatTheyHave) {
  for (std::size_t i = 0; i <= FlowContexts::most; ++i) {
    contexts_.join(i, "c" + std::to_string(i), Entry::fresh, now_);
  }
  const std::string last = "c" + std::to_string(FlowContexts::most);
  brings(FlowContexts::most, untrusted);
  brings(FlowContexts::most, private_data);
  for (std::size_t i = 0; i < FlowContexts::most; ++i) contexts_.leave(i, now_);
  contexts_.join(1000, last, Entry::fresh, now_ + FlowContexts::lingers);
  EXPECT_TRUE(is_trifecta(1000)) << "its agent has read it in the one without a name";
}

TEST_F(FlowContextsTest, ASessionThatNeverJoinedIsInTheOneWithoutAName) {
  brings(7, untrusted);
  brings(8, private_data);
  EXPECT_TRUE(is_trifecta(9));
  contexts_.join(10, "other", Entry::fresh, now_);
  contexts_.join(11, "", Entry::fresh, now_);
  EXPECT_TRUE(is_trifecta(9)) << "nobody has left it";
}

}  // namespace
}  // namespace cellblock
