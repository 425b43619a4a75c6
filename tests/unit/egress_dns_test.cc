#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "supervisor/egress/budgets.h"
#include "supervisor/egress/dns_responder.h"
#include "supervisor/egress/event_queue.h"
#include "tests/unit/egress_question.h"

namespace cellblock::egress {
namespace {

using namespace std::literals;
using wire::EgressEvent;
using wire::EgressKind;
using wire::EgressReason;

constexpr InternetAddress public_address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 9, 9, 9, 9};
constexpr InternetAddress private_address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};

TEST(DnsMessage, IsReadAsOneQuestion) {
  const auto question = parse_question(question_for("Api.Example.org", type_aaaa));
  ASSERT_TRUE(question);
  EXPECT_EQ(question->id, 0x1234);
  EXPECT_EQ(question->type, type_aaaa);
  EXPECT_EQ(question->name, "api.example.org");
  EXPECT_TRUE(question->recursion_desired);
  EXPECT_FALSE(question->has_edns);
}

TEST(DnsMessage, MayCarryAnOptRecord) {
  EXPECT_TRUE(parse_question(question_for("a.org", type_a, 1) + edns)->has_edns);
  std::string two = question_for("a.org", type_a, 1) + edns;
  EXPECT_EQ(parse_question(two + "x").error().code, DnsCode::format_error);
  two[11] = 2;
  EXPECT_EQ(parse_question(two).error().code, DnsCode::format_error);
}

TEST(DnsMessage, IsNotAnsweredWhenItIsAnAnswerOrHasNoHeader) {
  std::string answer = question_for("a.org", type_a);
  answer[2] = static_cast<char>(0x80);
  EXPECT_EQ(parse_question(answer).error().code, std::nullopt);
  EXPECT_EQ(parse_question("\x12\x34\1").error().code, std::nullopt);
}

TEST(DnsMessage, IsRefusedAtEveryPlaceWhereItIsCut) {
  const std::string whole = question_for("a.example.org", type_a, 1) + edns;
  for (std::size_t size = 12; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_question(whole.substr(0, size))) << size;
  }
}

TEST(DnsMessage, HasNoPointersLongLabelsOrSeveralQuestions) {
  std::string pointer = question_for("a.org", type_a);
  pointer[12] = static_cast<char>(0xc0);
  EXPECT_EQ(parse_question(pointer).error().code, DnsCode::format_error);
  std::string two = question_for("a.org", type_a);
  two[5] = 2;
  EXPECT_EQ(parse_question(two).error().code, DnsCode::format_error);
  std::string update = question_for("a.org", type_a);
  update[2] = 0x28;
  EXPECT_EQ(parse_question(update).error().code, DnsCode::not_implemented);
}

TEST(DnsMessage, KeepsDotsInLabelsApartFromDotsBetweenThem) {
  std::string message = question_for("aXb.org", type_a);
  message[message.find('X')] = '.';
  EXPECT_FALSE(parse_question(message));
}

TEST(DnsMessage, RepliesWithTheQuestionAndOneAddress) {
  const auto question = parse_question(question_for("Api.Org", type_a, 1) + edns);
  const std::string reply = dns_reply(*question, DnsCode::no_error, public_address);
  EXPECT_EQ(reply,
            "\x12\x34\x81\x80\0\1\0\1\0\0\0\1\3Api\3Org\0\0\1\0\1"
            "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\x09\x09\x09\x09"
            "\0\0\x29\4\xd0\0\0\0\0\0\0"s);
}

struct Responder {
  Egress rules{
      .allow = {{.host = "api.example.org"}, {.target = EgressTarget::suffix, .host = "many.org"}}};
  NameTable names;
  std::vector<EgressEvent> events;
  DnsResponder responder{rules, names,
                         [this](const EgressEvent& event) { events.push_back(event); }};

  std::string answer(std::string_view name, std::uint16_t type, const LookupResult& found) {
    const DnsAction action = responder.read(question_for(name, type));
    EXPECT_EQ(action.kind, DnsActionKind::look_up);
    return responder.answer(action.question, found);
  }
};

int code_of(const std::string& reply) { return reply.at(3) & 0xf; }
int answers_of(const std::string& reply) { return reply.at(7); }

std::string host_of(const EgressEvent& event) { return {event.host.data(), event.host_length}; }

TEST(DnsResponder, SaysThatNamesWithoutARuleDoNotExist) {
  Responder responder;
  const DnsAction action = responder.responder.read(question_for("evil.net", type_a));
  EXPECT_EQ(action.kind, DnsActionKind::reply);
  EXPECT_EQ(code_of(action.reply), 3);
  ASSERT_EQ(responder.events.size(), 1U);
  EXPECT_EQ(responder.events[0].kind, EgressKind::name_refused);
  EXPECT_EQ(responder.events[0].reason, EgressReason::not_allowed);
  EXPECT_EQ(host_of(responder.events[0]), "evil.net");
}

TEST(DnsResponder, AnswersWithAnAddressThatStandsForTheName) {
  Responder responder;
  const LookupResult found{LookupStatus::found, {public_address}};
  const std::string four = responder.answer("api.example.org", type_a, found);
  EXPECT_TRUE(four.ends_with("\xc6\x12\0\2"s));  // 198.18.0.2
  const std::string six = responder.answer("API.example.org", type_aaaa, found);
  EXPECT_TRUE(six.ends_with("\xfd\x53\x63\x62\0\0\0\0\0\0\0\0\0\0\0\2"s));
  EXPECT_TRUE(responder.answer("x.many.org", type_a, found).ends_with("\xc6\x12\0\3"s));
  EXPECT_TRUE(responder.events.empty());
}

TEST(DnsResponder, HasNoOtherRecordsOfAllowedNames) {
  Responder responder;
  const DnsAction action = responder.responder.read(question_for("api.example.org", 65));
  EXPECT_EQ(action.kind, DnsActionKind::reply);
  EXPECT_EQ(code_of(action.reply), 0);
  EXPECT_EQ(answers_of(action.reply), 0);
}

TEST(DnsResponder, PassesOnWhatTheRealResolverSaid) {
  Responder responder;
  const auto answer = [&](LookupStatus status) {
    return responder.answer("api.example.org", type_a, {status, {}});
  };
  EXPECT_EQ(code_of(answer(LookupStatus::no_such_name)), 3);
  EXPECT_EQ(code_of(answer(LookupStatus::failed)), 2);
  EXPECT_EQ(code_of(answer(LookupStatus::no_address)), 0);
}

TEST(DnsResponder, DoesNotAnswerForNamesThatLeadToPrivateAddressesOnly) {
  Responder responder;
  EXPECT_EQ(code_of(responder.answer("api.example.org", type_a,
                                     {LookupStatus::found, {private_address}})),
            3);
  ASSERT_EQ(responder.events.size(), 1U);
  EXPECT_EQ(responder.events[0].reason, EgressReason::private_address);
  EXPECT_EQ(answers_of(responder.answer("api.example.org", type_a,
                                        {LookupStatus::found, {private_address, public_address}})),
            1);
}

TEST(DnsResponder, GivesUpBeforeTheTableGrowsWithoutEnd) {
  Responder responder;
  const LookupResult found{LookupStatus::found, {public_address}};
  for (std::size_t i = 0; i < NameTable::max_names; ++i) {
    EXPECT_EQ(answers_of(responder.answer("n" + std::to_string(i) + ".many.org", type_a, found)),
              1);
  }
  EXPECT_EQ(code_of(responder.answer("one-more.many.org", type_a, found)), 2);
  EXPECT_EQ(responder.events.back().reason, EgressReason::too_many_names);
  EXPECT_EQ(answers_of(responder.answer("n0.many.org", type_a, found)), 1);
}

TEST(DnsResponder, SaysNothingToWhatIsNoQuestion) {
  Responder responder;
  EXPECT_EQ(responder.responder.read("").kind, DnsActionKind::ignore);
  EXPECT_EQ(responder.events.at(0).reason, EgressReason::malformed);
}

TEST(NameTable, FindsTheNameOfEachAddress) {
  NameTable names;
  for (int i = 0; i < 600; ++i) {
    const std::string name = "n" + std::to_string(i);
    const auto pair = names.addresses_of(name);
    EXPECT_EQ(*names.name_of(pair->ipv4), name);
    EXPECT_EQ(*names.name_of(pair->ipv6), name);
    EXPECT_TRUE(names.is_synthetic(pair->ipv4));
    EXPECT_TRUE(names.is_synthetic(pair->ipv6));
  }
  EXPECT_EQ(names.name_of(public_address), nullptr);
  EXPECT_FALSE(names.is_synthetic(public_address));
  InternetAddress first = SyntheticRange{}.ipv4;
  EXPECT_EQ(names.name_of(first), nullptr);
  first[15] = 1;
  EXPECT_EQ(names.name_of(first), nullptr);
  EXPECT_TRUE(names.is_synthetic(first));
}

using Time = EventQueue::Time;

EgressEvent refused(std::string_view host) {
  return event_about(EgressKind::name_refused, EgressReason::not_allowed, host);
}

std::vector<EgressEvent> drain(EventQueue& queue, Time now) {
  std::vector<EgressEvent> events;
  while (const EgressEvent* event = queue.next(now)) {
    events.push_back(*event);
    queue.take(now);
  }
  return events;
}

TEST(QuestionBudget, IsABurstAndThenARate) {
  QuestionBudget budget;
  const Time start = Time{} + 1h;
  int taken = 0;
  for (int i = 0; i < 1000; ++i) taken += budget.take(start) ? 1 : 0;
  EXPECT_EQ(taken, QuestionBudget::burst);
  for (int i = 0; i < 1000; ++i) taken += budget.take(start + 1s) ? 1 : 0;
  EXPECT_EQ(taken, QuestionBudget::burst + QuestionBudget::per_second);
}

TEST(EventQueue, MakesOneOfAlikeEvents) {
  EventQueue queue;
  for (int i = 0; i < 5; ++i) queue.add(refused("a.org"));
  queue.add(refused("b.org"));
  const auto events = drain(queue, Time{} + 1h);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].count, 5U);
  EXPECT_EQ(events[1].count, 1U);
}

TEST(EventQueue, KeepsToItsRateForEachKind) {
  EventQueue queue;
  const Time now = Time{} + 1h;
  for (int i = 0; i < 30; ++i) queue.add(refused(std::to_string(i)));
  queue.add(event_about(EgressKind::connected, EgressReason::none, "a.org", 443));
  EXPECT_EQ(drain(queue, now).size(), EventQueue::per_second + 1);
  EXPECT_EQ(queue.due(), now + 50ms);
  EXPECT_EQ(drain(queue, now + 1s).size(), 10U);
  EXPECT_EQ(queue.due(), std::nullopt);
}

TEST(EventQueue, LosesNoCountWhenItIsFull) {
  EventQueue queue;
  std::uint32_t counted = 0;
  for (int i = 0; i < 1000; ++i) queue.add(refused(std::to_string(i)));
  for (Time now = Time{} + 1h; queue.due(); now += 1s) {
    for (const auto& event : drain(queue, now)) counted += event.count;
  }
  EXPECT_EQ(counted, 1000U);
}

TEST(EventQueue, TellsOfAConnectionBehindAHeapOfRefusals) {
  EventQueue queue;
  for (int i = 0; i < 1000; ++i) queue.add(refused(std::to_string(i)));
  queue.add(event_about(EgressKind::connected, EgressReason::none, "a.org", 443));
  const auto events = drain(queue, Time{} + 1h);
  EXPECT_TRUE(std::ranges::any_of(events, [](const EgressEvent& event) {
    return event.kind == EgressKind::connected && event.host_length == 5;
  }));
}

TEST(EventQueue, TellsOfAnExactlyNamedTargetBehindAHeapOfOthersOfItsKind) {
  EventQueue queue;
  for (int i = 0; i < 1000; ++i) queue.add(refused(std::to_string(i)));
  queue.add(refused("a.org"), EventQueue::Room::named);
  Time now = Time{} + 1h;
  std::vector<EgressEvent> events;
  for (; queue.due(); now += 1s) std::ranges::copy(drain(queue, now), std::back_inserter(events));
  EXPECT_TRUE(
      std::ranges::any_of(events, [](const EgressEvent& event) { return event.host_length == 5; }));
}

TEST(EventQueue, TellsAllAtOnceWhenItsRateIsLifted) {
  EventQueue queue;
  for (int i = 0; i < 60; ++i) queue.add(refused(std::to_string(i)));
  queue.lift_rate();
  EXPECT_EQ(drain(queue, Time{} + 1h).size(), 60U);
}

}  // namespace
}  // namespace cellblock::egress
