#include "policy/redaction/redactor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

/// What becomes of messages that have something in them.
namespace cellblock {
namespace {

using enum RedactionAction;

constexpr RedactionChoice both(RedactionAction action) { return {action, action}; }

RedactionRules rules_of(std::vector<DetectorRule> detectors,
                        std::vector<ExpressionRule> expressions = {}) {
  return {.secrets = {log, redact},
          .detectors = std::move(detectors),
          .expressions = std::move(expressions)};
}

Redactor redactor_of(const RedactionRules& rules, const std::vector<std::string>& secrets = {}) {
  Redactor::Scanners scanners;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < secrets.size(); ++i) names.push_back("TOKEN" + std::to_string(i));
  auto made = Redactor::make({rules, mark_secrets(secrets, {1, 2, 3}), names}, scanners);
  EXPECT_TRUE(made.has_value());
  return *std::move(made);
}

struct Outcome {
  std::string line;  ///< as it goes on; "blocked"
  std::string found;
};

Outcome pass(const Redactor& redactor, Direction direction, const std::string& line) {
  std::string padded = line;
  padded.append(MessageScanner::padding, ' ');
  const std::string_view read = std::string_view(padded).substr(0, line.size());
  const auto message = MessageScanner().scan(read);
  if (!message) return {"not valid: " + line, ""};
  const Redaction made = redactor.of_message(direction, read, *message, {});
  if (made.is_blocked) return {"blocked", counts_text(made.found)};
  const EditedMessage edited(read, made.edits);
  EXPECT_TRUE(edited.is_sound());
  std::string text = edited.flatten();
  text.pop_back();
  std::string again = text + std::string(MessageScanner::padding, ' ');
  EXPECT_TRUE(MessageScanner().scan(std::string_view(again).substr(0, text.size()))) << text;
  return {text, counts_text(made.found)};
}

std::string call(const std::string& arguments) {
  return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":)" +
         arguments + "}}";
}
std::string result(const std::string& text) {
  return R"({"jsonrpc":"2.0","id":1,"result":)" + text + "}";
}

TEST(Redactor, ReplacesWhatItFindsInsideTheString) {
  const Redactor redactor = redactor_of(rules_of({{"email", both(redact)}}));
  const Outcome outcome =
      pass(redactor, Direction::to_host,
           result(R"({"a":"x\n\"y\" me@example.org\u0021","b":["u@v.de, w@v.de"]})"));
  EXPECT_EQ(
      outcome.line,
      result(
          R"({"a":"x\n\"y\" [redacted: email]\u0021","b":["[redacted: email], [redacted: email]"]})"));
  EXPECT_EQ(outcome.found, "email 3");
}

TEST(Redactor, FindsWhatIsSpelledWithEscapes) {
  const Redactor redactor = redactor_of(rules_of({{"email", both(redact)}}));
  EXPECT_EQ(pass(redactor, Direction::to_host, result(R"({"a":"m\u0065\u0040example.org"})")).line,
            result(R"({"a":"[redacted: email]"})"));
}

TEST(Redactor, LeavesAMessageAloneThatHasNothing) {
  const Redactor redactor =
      redactor_of(rules_of({{"email", both(block)}, {"card", both(block)}}), {"a secret, long"});
  const std::string line = result(R"({"content":[{"type":"text","text":"nothing \n here"}]})");
  const Outcome outcome = pass(redactor, Direction::to_host, line);
  EXPECT_EQ(outcome.line, line);
  EXPECT_EQ(outcome.found, "");
}

TEST(Redactor, BlocksRedactsAndLogsByDirection) {
  const Redactor redactor = redactor_of(
      rules_of({{"card", {block, redact}}, {"email", {log, off}}, {"ssn", {off, log}}}));
  const std::string text = R"({"a":"4111111111111111","b":"me@example.org","c":"123-45-6789"})";
  EXPECT_EQ(pass(redactor, Direction::to_server, call(text)).line, "blocked");
  const std::string mail = call(R"({"b":"me@example.org","c":"123-45-6789"})");
  EXPECT_EQ(pass(redactor, Direction::to_server, mail).line, mail);
  EXPECT_EQ(pass(redactor, Direction::to_server, mail).found, "email 1");
  const Outcome back = pass(redactor, Direction::to_host, result(text));
  EXPECT_EQ(back.line,
            result(R"({"a":"[redacted: card]","b":"me@example.org","c":"123-45-6789"})"));
  EXPECT_EQ(back.found, "card 1, ssn 1");
}

TEST(Redactor, LooksAtNumbersAndKeysAsWell) {
  const Redactor redactor = redactor_of(rules_of({{"card", both(redact)}}));
  EXPECT_EQ(
      pass(redactor, Direction::to_host,
           result(R"({"n":4111111111111111,"4111111111111111":1,"5500000000000004":[2.5]})"))
          .line,
      result(R"({"n":"[redacted: card]","[redacted: card 1]":1,"[redacted: card 2]":[2.5]})"));
}

TEST(Redactor, FindsWhatTheNameOfAMemberTells) {
  const Redactor redactor =
      redactor_of(rules_of({{"medical_record", both(redact)}, {"date_of_birth", both(redact)}}));
  EXPECT_EQ(
      pass(redactor, Direction::to_host,
           result(
               R"({"mrn":"00123456","mrns":"00123456","p":{"dob" : ["1980-02-29"],"mrn":123456}})"))
          .line,
      result(R"({"mrn":"[redacted: medical_record]","mrns":"00123456",)"
             R"("p":{"dob" : ["[redacted: date_of_birth]"],"mrn":"[redacted: medical_record]"}})"));
}

TEST(Redactor, FindsWhatTheNameOfAMemberTellsHoweverItIsWritten) {
  const Redactor redactor =
      redactor_of(rules_of({{"authorization", both(redact)}, {"medical_record", both(redact)}}));
  const auto passed = [&](const std::string& text) {
    return pass(redactor, Direction::to_host, result(text)).line;
  };
  EXPECT_EQ(passed(R"({"Authorization":["x","Bearer abcdefgh12345678"]})"),
            result(R"({"Authorization":["x","Bearer [redacted: authorization]"]})"));
  EXPECT_EQ(passed(R"({"Author\u0069zation" : [ {"a":1}, ["Bearer abcdefgh12345678"]]})"),
            result(R"({"Author\u0069zation" : [ {"a":1}, ["Bearer [redacted: authorization]"]]})"));
  EXPECT_EQ(passed(R"({"Author\u0069zation":"Bearer abcdefgh12345678"})"),
            result(R"({"Author\u0069zation":"Bearer [redacted: authorization]"})"));
  EXPECT_EQ(passed(R"({"mrn":[true,123456]})"),
            result(R"({"mrn":[true,"[redacted: medical_record]"]})"));
}

TEST(Redactor, FindsNothingAcrossTheStructure) {
  const Redactor redactor = redactor_of(rules_of({}, {{"pair", "one.*two", both(redact)}}));
  const std::string line = result(R"({"a":"one","b":"two"})");
  EXPECT_EQ(pass(redactor, Direction::to_host, line).line, line);
  EXPECT_EQ(pass(redactor, Direction::to_host, result(R"({"a":"one two"})")).line,
            result(R"({"a":"[redacted: pair]"})"));
}

TEST(Redactor, ReplacesAGroupAndKeepsItsLabel) {
  const Redactor redactor = redactor_of(rules_of({}, {{"ticket", "ticket (T-[0-9]+)", both(redact)},
                                                      {"whole", "^all of it$", both(redact)},
                                                      {"word", "gr\u00fc\u00dfe?", both(redact)}}));
  EXPECT_EQ(
      pass(redactor, Direction::to_host,
           result("[\"ticket T-1, T-2, ticket T-3\",\"all of it\",\"gr\u00fc\u00dfe\"]"))
          .line,
      result(
          R"(["ticket [redacted: ticket], T-2, ticket [redacted: ticket]","[redacted: whole]","[redacted: word]"])"));
}

TEST(Redactor, RedactsSecretsThatTheServerWasGiven) {
  const Redactor redactor = redactor_of(rules_of({}), {"hunter2hunter2", "say \"friend\" now"});
  const Outcome outcome =
      pass(redactor, Direction::to_host,
           result(R"({"a":"is hunter2hunter2","b":"aHVudGVyMmh1bnRlcjI=","c":"say \"friend\" now",)"
                  R"("d":"{\"e\":\"say \\\"friend\\\" now\"}"})"));
  EXPECT_EQ(
      outcome.line,
      result(R"({"a":"is [redacted: TOKEN0]","b":"[redacted: TOKEN0]=","c":"[redacted: TOKEN1]",)"
             R"("d":"{\"e\":\"[redacted: TOKEN1]\"}"})"));
  EXPECT_EQ(outcome.found, "TOKEN0 2, TOKEN1 2");
  const std::string back = call(R"({"a":"hunter2hunter2"})");
  EXPECT_EQ(pass(redactor, Direction::to_server, back).line, back);
  EXPECT_EQ(pass(redactor, Direction::to_server, back).found, "TOKEN0 1");
}

TEST(Redactor, WatchesNothingWithoutRulesAndSecrets) {
  const Redactor redactor = redactor_of(rules_of({}));
  EXPECT_FALSE(redactor.watches(Direction::to_host));
  EXPECT_FALSE(redactor.watches(Direction::to_server));
  EXPECT_TRUE(redactor_of(rules_of({}), {"hunter2hunter2"}).watches(Direction::to_host));
  EXPECT_TRUE(redactor_of(rules_of({{"card", {off, log}}})).watches(Direction::to_host));
  EXPECT_FALSE(redactor_of(rules_of({{"card", {off, log}}})).watches(Direction::to_server));
}

TEST(Redactor, RedactsPlainTextWhereAMessageWouldBeBlocked) {
  const Redactor redactor = redactor_of(rules_of({{"card", both(block)}}), {"hunter2hunter2"});
  FoundCounts found;
  EXPECT_EQ(redactor.of_text(Direction::to_host, "4111111111111111 hunter2hunter2\xff", found),
            "[redacted: card] [redacted: TOKEN0]\xff");
  EXPECT_EQ(counts_text(found), "TOKEN0 1, card 1");
}

TEST(Redactor, SparesWhatTheProtocolNeeds) {
  const Redactor redactor = redactor_of(rules_of({{"card", both(redact)}}));
  const std::string text =
      R"({"nextCursor":"4111111111111111","a":{"nextCursor":"4111111111111111"}})";
  const Redaction made = redactor.of_json(Direction::to_host, text, "nextCursor");
  ASSERT_EQ(made.edits.size(), 1U);
  EXPECT_GT(made.edits.front().where.begin, 33U);
}

TEST(Redactor, OneNameIsGivenToWhatOverlaps) {
  const Redactor redactor =
      redactor_of(rules_of({}, {{"front", "abcd", both(redact)}, {"back", "cdef", both(redact)}}));
  const Outcome outcome = pass(redactor, Direction::to_host, result(R"(["xabcdefx"])"));
  EXPECT_EQ(outcome.line, result(R"(["x[redacted: front]x"])"));
  EXPECT_EQ(outcome.found, "back 1, front 1");
}

// Each match makes the automaton look to the end for a better one: only a bounded end is there.
TEST(Redactor, FindsMatchesLongerThanItsWindowAndMoreThanItsPatience) {
  const Redactor redactor = redactor_of(
      rules_of({}, {{"run", "a[^b]*b|a", both(redact)}, {"long", "x[0-9]+y", both(redact)}}));
  FoundCounts found;
  const std::string many(100'000, 'a');
  redactor.of_text(Direction::to_host, many, found);
  EXPECT_EQ(found["run"], 100'000U);
  const std::string digits(100'000, '1');
  EXPECT_EQ(redactor.of_text(Direction::to_host, "x" + digits + "y", found), "x" + digits + "y");
  EXPECT_EQ(redactor.of_text(Direction::to_host, "x" + digits.substr(0, 2000) + "y", found),
            "[redacted: long]");
}

TEST(CheckPattern, SaysWhatIsWrongWithAnExpression) {
  EXPECT_TRUE(check_pattern("T-[0-9]+"));
  EXPECT_FALSE(check_pattern(""));
  EXPECT_FALSE(check_pattern("a*"));
  EXPECT_FALSE(check_pattern("(a"));
  EXPECT_FALSE(check_pattern(R"((a)\1)"));
  EXPECT_FALSE(check_pattern("(?:(?:a{1000}){1000})"));
  EXPECT_FALSE(check_pattern(std::string(2000, 'a')));
}

}  // namespace
}  // namespace cellblock
