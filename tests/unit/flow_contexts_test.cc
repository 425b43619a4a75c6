#include "policy/flows/flow_contexts.h"

#include <gmock/gmock.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

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
  bool is_trifecta(std::uint64_t session) { return why(session, set_of({egress})).has_value(); }
  std::optional<FlowVerdict> judged(std::uint64_t session, FlowLabels of_call,
                                    std::string_view arguments = "{}") {
    return contexts_.judge({.session = session,
                            .target = {.server = "web", .tool = "send", .labels = of_call},
                            .arguments = arguments});
  }
  std::optional<std::string> why(std::uint64_t session, FlowLabels of_call) {
    const auto verdict = judged(session, of_call);
    return verdict ? std::optional(verdict->why) : std::nullopt;
  }
  FlowRule& add_rule(std::initializer_list<FlowLabel> after,
                     std::initializer_list<FlowLabel> before, FlowEffect effect) {
    return rules_.rules.emplace_back(
        FlowRule{.name = "flows.rule[" + std::to_string(rules_.rules.size() + 1) + "]",
                 .after = set_of(after),
                 .before = set_of(before),
                 .effect = effect,
                 .binds_everybody = true});
  }
  std::string decides(std::uint64_t session, FlowLabels of_call,
                      std::string_view arguments = "{}") {
    const auto verdict = judged(session, of_call, arguments);
    return verdict ? verdict->rule.name : "none";
  }

  FlowRules rules_{.trifecta = FlowEffect::ask};
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
  EXPECT_FALSE(why(1, set_of({untrusted, private_data}))) << "it sends nothing";
}

TEST_F(FlowContextsTest, SaysWhatBroughtEach) {
  contexts_.join(1, "", Entry::fresh, now_);
  contexts_.take({.session = 1, .call = 4, .server = "web", .name = "fetch"},
                 set_of({untrusted, egress}));
  contexts_.take({.session = 1, .call = 9, .server = "files", .name = "read"},
                 set_of({private_data}));
  contexts_.take({.session = 1, .call = 10, .server = "other", .name = "read"},
                 set_of({private_data, untrusted}));
  EXPECT_EQ(why(1, set_of({egress})),
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
  const auto sentence = why(1, set_of({egress})).value_or("");
  EXPECT_THAT(sentence, HasSubstr(R"(from "a' of web)"));
  EXPECT_THAT(sentence, HasSubstr(R"(nothing\x1b[2K" of web)"));
  EXPECT_LT(sentence.size(), 600U);
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
  EXPECT_THAT(why(1, set_of({egress})).value_or(""), HasSubstr("before"));
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

TEST_F(FlowContextsTest, TheStrictestRuleDecidesAndOfTwoThatAskTheOneThatAsksAnAdministrator) {
  rules_.approver = Approver::user;
  contexts_.join(1, "", Entry::fresh, now_);
  brings(1, untrusted);
  brings(1, private_data);
  EXPECT_EQ(decides(1, set_of({egress})), "flows.trifecta");
  add_rule({untrusted}, {egress}, FlowEffect::log);
  EXPECT_EQ(decides(1, set_of({egress})), "flows.trifecta");
  add_rule({untrusted}, {egress}, FlowEffect::ask);
  EXPECT_EQ(decides(1, set_of({egress})), "flows.rule[2]");
  add_rule({private_data}, {egress}, FlowEffect::deny);
  EXPECT_EQ(decides(1, set_of({egress})), "flows.rule[3]");
}

TEST_F(FlowContextsTest, ARuleWantsAllLabelsOfTheContextAndOneOfTheCall) {
  rules_.trifecta = FlowEffect::off;
  add_rule({untrusted}, {egress, destructive}, FlowEffect::ask);
  contexts_.join(1, "", Entry::fresh, now_);
  brings(1, private_data);
  EXPECT_EQ(decides(1, set_of({destructive})), "none");
  brings(1, untrusted);
  EXPECT_EQ(decides(1, set_of({destructive})), "flows.rule[1]");
  EXPECT_EQ(decides(1, set_of({private_data})), "none");
  EXPECT_EQ(why(1, set_of({destructive})),
            "it can delete or overwrite, after untrusted content came from \"get\" of web (session "
            "1, call 5)");
}

TEST_F(FlowContextsTest, ARuleIsAboutItsUsersServersAndToolsAlone) {
  rules_.trifecta = FlowEffect::off;
  FlowRule& rule = add_rule({untrusted}, {egress}, FlowEffect::deny);
  contexts_.join(1, "", Entry::fresh, now_, FlowPerson{.uid = 1000, .gid = 1000, .groups = {50}});
  brings(1, untrusted);
  const FlowRule all = rule;
  EXPECT_EQ(decides(1, set_of({egress})), all.name);
  rule.servers = {"other"};
  EXPECT_EQ(decides(1, set_of({egress})), "none");
  rule.servers = {"other", "web"};
  rule.tools = {{"se", true}};
  EXPECT_EQ(decides(1, set_of({egress})), all.name);
  EXPECT_FALSE(contexts_.judge({.session = 1,
                                .target = {.server = "web", .tool = "", .labels = set_of({egress})},
                                .arguments = "{}"}))
      << "a read is no tool";
  rule.tools = {{"send_all", false}};
  EXPECT_EQ(decides(1, set_of({egress})), "none");
  rule = all;
  rule.binds_everybody = false;
  rule.uids = {1001};
  EXPECT_EQ(decides(1, set_of({egress})), "none");
  rule.gids = {50};
  EXPECT_EQ(decides(1, set_of({egress})), all.name);
  rule.gids.clear();
  contexts_.join(2, "", Entry::fresh, now_);
  EXPECT_EQ(decides(2, set_of({egress})), all.name) << "nobody knows whose session it is";
}

constexpr std::string_view note =
    R"({"result":{"text":"The launch code of the northern silo is 7741-0093-5512, do not share."}})";

TEST_F(FlowContextsTest, ACopiedRuleWantsTextThatWasRead) {
  rules_.trifecta = FlowEffect::off;
  add_rule({private_data}, {egress}, FlowEffect::ask).copied = true;
  contexts_.join(1, "", Entry::fresh, now_);
  brings(1, private_data);
  contexts_.read(1, set_of({private_data}), note);
  EXPECT_EQ(decides(1, set_of({egress}), R"({"body":"thanks, merged"})"), "none");
  EXPECT_EQ(decides(1, set_of({egress}), R"({"body":"7741-0093-5512"})"), "flows.rule[1]");
  EXPECT_EQ(decides(1, set_of({egress}),
                    R"({"body":"so THE LAUNCH CODE of the northern-silo is what?"})"),
            "flows.rule[1]");
  contexts_.join(2, "other", Entry::fresh, now_);
  EXPECT_EQ(decides(2, set_of({egress}), R"({"body":"7741-0093-5512"})"), "none");
}

TEST_F(FlowContextsTest, TextThatNobodyFollowedCountsAsRepeated) {
  rules_.trifecta = FlowEffect::off;
  contexts_.join(1, "", Entry::fresh, now_);
  brings(1, private_data);
  add_rule({private_data}, {egress}, FlowEffect::ask).copied = true;
  EXPECT_EQ(decides(1, set_of({egress}), R"({"body":"thanks"})"), "flows.rule[1]")
      << "it was read before the rule was there";
  contexts_.join(2, "other", Entry::resumed, now_);
  EXPECT_EQ(decides(2, set_of({egress}), R"({"body":"thanks"})"), "flows.rule[1]");
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
