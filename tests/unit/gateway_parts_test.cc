#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>

#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/cell/stderr_log.h"
#include "supervisor/gateway/message/calls_in_flight.h"
#include "supervisor/gateway/message/control_request.h"
#include "supervisor/gateway/message/replies.h"
#include "supervisor/gateway/upstream/client_features.h"

namespace cellblock::gateway {
namespace {

TEST(UpstreamIds, StayBelowTwoToThe53AndAboveZero) {
  unsigned fills = 0;
  UpstreamIds ids([&fills](std::span<std::byte> bytes) {
    std::ranges::fill(bytes, std::byte{++fills == 1 ? std::uint8_t{0} : std::uint8_t{0xff}});
  });
  EXPECT_EQ(ids.next(), (1ULL << 53) - 1);  // the zeroes were skipped
  EXPECT_EQ(fills, 2U);
}

TEST(UpstreamIds, ReadsBackOnlyPlainIntegers) {
  EXPECT_EQ(parse_upstream_id("42"), 42U);
  for (const auto* raw : {"", "\"42\"", "42 ", "-42", "4.2", "99999999999999999999"}) {
    EXPECT_EQ(parse_upstream_id(raw), 0U) << raw;
  }
}

Call call(std::uint64_t ours, std::string theirs) {
  Call made;
  made.own_id = ours;
  made.caller_id = std::move(theirs);
  return made;
}

TEST(CallTable, RefusesAnIdThatIsInFlightAndTakesItAgainAfterwards) {
  CallTable calls(4);
  calls.open(call(10, "1"));
  EXPECT_EQ(calls.refusal_for("1"), CallTable::Refusal::duplicate);
  EXPECT_FALSE(calls.refusal_for("\"1\""));
  EXPECT_EQ(calls.close("10")->caller_id, "1");
  EXPECT_FALSE(calls.refusal_for("1"));
}

TEST(CallTable, HoldsNoMoreThanItsBound) {
  CallTable calls(2);
  calls.open(call(10, "1"));
  calls.open(call(11, "2"));
  EXPECT_EQ(calls.refusal_for("3"), CallTable::Refusal::too_many);
}

TEST(CallTable, RemembersThatACallWasCancelled) {
  CallTable calls(2);
  calls.open(call(10, "1"));
  EXPECT_TRUE(calls.cancel("1"));
  EXPECT_FALSE(calls.cancel("1"));
  EXPECT_FALSE(calls.close("10"));
  EXPECT_TRUE(calls.was_cancelled("10"));
  EXPECT_FALSE(calls.was_cancelled("11"));
}

TEST(CallTable, KeepsTheOthersWhenOneLeaves) {
  CallTable calls(8);
  for (std::uint64_t i = 1; i <= 5; ++i) calls.open(call(i, std::to_string(i * 10)));
  EXPECT_TRUE(calls.close("2"));
  EXPECT_TRUE(calls.close("5"));
  for (const auto* ours : {"1", "3", "4"}) EXPECT_NE(calls.find(ours), nullptr) << ours;
  EXPECT_EQ(calls.take_all().size(), 3U);
  EXPECT_EQ(calls.size(), 0U);
}

TEST(ClientFeatures, TellsAServerOnlyOfWhatItMayUse) {
  EXPECT_EQ(strip_capabilities(R"({"sampling":{},"x":[1],"roots":{"listChanged":true}})", {}),
            R"({"x":[1]})");
  ClientFeatures all{.roots = true, .sampling = true, .elicitation = true};
  EXPECT_FALSE(strip_capabilities(R"({"sampling":{},"roots":{}})", all));
  EXPECT_FALSE(strip_capabilities(R"({"experimental":{}})", {}));
}

TEST(ClientFeatures, RefusesEveryRequestThatIsNotDeclared) {
  EXPECT_FALSE(server_may_request("roots/list", {}));
  EXPECT_TRUE(server_may_request("roots/list", {.roots = true}));
  EXPECT_FALSE(server_may_request("sampling/createMessage", {.roots = true}));
  EXPECT_FALSE(server_may_request("tools/call", {.roots = true, .sampling = true}));
  EXPECT_TRUE(server_may_request("ping", {}));
}

TEST(ControlRequest, ReadsEachShape) {
  const auto attach = parse_control("cellblock/attach", R"({"server":"files","stdio":true})");
  ASSERT_TRUE(attach);
  EXPECT_EQ(attach->server, "files");
  EXPECT_EQ(attach->stdio, StdioOffer::offered);
  EXPECT_EQ(attach->workspace, WorkspaceOffer::none);
  EXPECT_EQ(attach->program, wire::CellProgram::server);
  const auto probe =
      parse_control("cellblock/attach", R"({"server":"files","workspace":true,"probe":true})");
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->workspace, WorkspaceOffer::offered);
  EXPECT_EQ(probe->program, wire::CellProgram::probe);
  EXPECT_EQ(parse_control("cellblock/logs", R"({"server":"a","denied":true})")->log,
            LogKind::denied);
  EXPECT_EQ(parse_control("cellblock/logs", R"({"server":"a"})")->lines, 100U);
  EXPECT_EQ(parse_control("cellblock/logs", R"({"server":"a"})")->after, std::nullopt);
  EXPECT_EQ(parse_control("cellblock/logs", R"({"server":"a","after":7})")->after, 7U);
  EXPECT_TRUE(parse_control("cellblock/status", ""));
  const auto all = parse_control("cellblock/attach", R"({"labels":{"org":"Œuvre"}})");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->server, "");
  EXPECT_EQ(all->start, StartWhen::now);
  EXPECT_EQ(all->labels, (std::vector<Label>{{"org", "Œuvre"}}));
  EXPECT_EQ(all->tools, std::nullopt);
  EXPECT_EQ(parse_control("cellblock/attach", R"({"tools":"search"})")->tools, ToolListing::search);
  EXPECT_EQ(parse_control("cellblock/attach", R"({"server":"a","tools":"all"})")->tools,
            ToolListing::all);
  EXPECT_EQ(parse_control("cellblock/attach", R"({"server":"a","start":"on_demand"})")->start,
            StartWhen::on_demand);
}

TEST(ControlRequest, RefusesWhatItDoesNotKnow) {
  for (const auto& [method, params] :
       {std::pair{"cellblock/attach", R"({"server":""})"},
        {"cellblock/attach", R"({"workspace":true})"},
        {"cellblock/attach", R"({"probe":true})"},
        {"cellblock/attach", R"({"server":"a","start":"later"})"},
        {"cellblock/attach", R"({"server":"a","tools":"few"})"},
        {"cellblock/attach", R"({"server":"a","tools":true})"},
        {"cellblock/attach", R"({"server":"a","probe":true,"tools":"search"})"},
        {"cellblock/attach", R"({"labels":{"Org":"x"}})"},
        {"cellblock/attach", R"({"labels":{"org":"a\u0007b"}})"},
        {"cellblock/attach", R"({"labels":{"org":7}})"},
        {"cellblock/attach", R"({"server":1})"},
        {"cellblock/attach", R"({"server":"a","stdin":true})"},
        {"cellblock/attach", R"({"server":"a","stdio":1})"},
        {"cellblock/attach", R"({"server":"a","workspace":"/x"})"},
        {"cellblock/logs", R"({"server":"a","stdio":true})"},
        {"cellblock/logs", R"({"server":"a","lines":0})"},
        {"cellblock/logs", R"({"server":"a","lines":201})"},
        {"cellblock/logs", R"({"server":"a","after":-1})"},
        {"cellblock/logs", R"({"server":"a","after":"1"})"},
        {"cellblock/logs", R"({"server":"a","denied":true,"after":1})"},
        {"cellblock/status", R"({"server":"a"})"},
        {"cellblock/nothing", R"({})"}}) {
    const auto request = parse_control(method, params);
    ASSERT_FALSE(request) << method << params;
    EXPECT_EQ(request.error().code, FailureCode::invalid_request);
  }
}

TEST(InvalidOutputBudget, IsRenewedByAValidMessage) {
  InvalidOutputBudget noise;
  for (unsigned i = 0; i < InvalidOutputBudget::max_lines; ++i) EXPECT_FALSE(noise.spend("x"));
  noise.renew();
  EXPECT_FALSE(noise.spend("x"));
  EXPECT_EQ(noise.total(), InvalidOutputBudget::max_lines + 1);
}

TEST(InvalidOutputBudget, CountsBytesAsWellAsLinesAndKeepsTheFirst) {
  InvalidOutputBudget noise;
  EXPECT_FALSE(noise.spend("\x1b[31mred"));
  EXPECT_TRUE(noise.spend(std::string(InvalidOutputBudget::max_bytes, 'x')));
  EXPECT_EQ(noise.first(), "\\x1b[31mred");
}

TEST(StderrCollector, CutsLongLinesAndSaysByHowMuch) {
  StderrRing ring;
  StderrCollector errors(ring, 7);
  errors.add(std::string(StderrCollector::max_line, 'x'), 1000);
  errors.add("yyy\nnext\nrest", 1000);
  errors.finish(1000);
  const auto lines = ring.last(10).lines;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0]->text.ends_with("x ... (3 more bytes)"));
  EXPECT_EQ(lines[1]->text, "next");
  EXPECT_EQ(lines[2]->text, "rest");
}

TEST(StderrCollector, SumsUpAFlood) {
  StderrRing ring;
  StderrCollector errors(ring, 7);
  for (int i = 0; i < 150; ++i) errors.add("line\n", 1000);
  errors.add("later\n", 2000);
  const auto lines = ring.last(2).lines;
  EXPECT_EQ(lines[0]->text, "(50 more lines in one second)");
  EXPECT_EQ(lines[1]->text, "later");
}

std::vector<std::string> texts_of(const StderrPage& page) {
  std::vector<std::string> texts;
  for (const StderrLine* line : page.lines) texts.push_back(line->text);
  return texts;
}

TEST(StderrRing, IsReadOnFromWhereItWasRead) {
  StderrRing ring;
  EXPECT_EQ(ring.last(10).next, 0U);
  for (const char* text : {"a", "b", "c"}) ring.add({1, 0, text});
  const StderrPage first = ring.after(0, 2);
  EXPECT_EQ(texts_of(first), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(first.next, 2U);
  const StderrPage second = ring.after(first.next, 2);
  EXPECT_EQ(texts_of(second), (std::vector<std::string>{"c"}));
  EXPECT_TRUE(ring.after(second.next, 2).lines.empty());
  EXPECT_EQ(ring.after(second.next, 2).next, 3U);
  EXPECT_EQ(ring.last(1).next, 3U);
}

TEST(StderrRing, SaysHowManyLinesItHasNotKeptForWhoeverReadsOn) {
  StderrRing ring;
  for (std::size_t i = 0; i < StderrRing::max_lines + 5; ++i) {
    ring.add({1, 0, std::to_string(i + 1)});
  }
  const StderrPage late = ring.after(2, 1);
  EXPECT_EQ(late.missed, 3U);
  EXPECT_EQ(texts_of(late), (std::vector<std::string>{"6"}));
  EXPECT_EQ(late.next, 6U);
  EXPECT_EQ(ring.after(late.next, 1).missed, 0U);
  EXPECT_EQ(ring.after(10'000, 1).next, StderrRing::max_lines + 5);
  EXPECT_EQ(ring.last(10).missed, 0U);
}

TEST(StderrRing, KeepsTheNewestAndTellsCellsApart) {
  StderrRing ring;
  for (std::size_t i = 0; i < StderrRing::max_lines; ++i) ring.add({1, 0, "old"});
  ring.add({2, 0, "a"});
  ring.add({1, 0, "b"});
  ring.add({2, 0, "c"});
  EXPECT_EQ(ring.last(1000).lines.size(), StderrRing::max_lines);
  EXPECT_EQ(ring.last_of(2, 10), (std::vector<std::string>{"a", "c"}));
}

TEST(CellFailure, AnEndOfItsOwnIsTheCauseOfAClosedOutput) {
  EndedCell ended;
  ended.given_up = GivenUp::closed_stdout;
  ended.facts.kind = EndKind::exited;
  EXPECT_EQ(with_true_cause(ended).given_up, GivenUp::no);
  ended.facts.kind = EndKind::signalled;
  ended.facts.signal = SIGKILL;
  EXPECT_EQ(with_true_cause(ended).given_up, GivenUp::closed_stdout);
  ended.facts.signal = SIGSEGV;
  EXPECT_EQ(with_true_cause(ended).given_up, GivenUp::no);
}

TEST(Replies, EscapeWhatAPeerSaid) {
  EXPECT_EQ(
      protocol_error("\"i\"", -32602, "Unknown tool: a\"b\n"),
      R"({"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"Unknown tool: a\"b\n"}})");
  EXPECT_EQ(protocol_error("", -32700, "x"),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}})");
}

}  // namespace
}  // namespace cellblock::gateway
