#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "policy/access/condition_match.h"
#include "policy/access/rights.h"
#include "policy/access/verdict_text.h"

/// What a host may try so that a condition on arguments does not mean what it says.
namespace cellblock {
namespace {

using enum Effect;

Scalar text(std::string value) { return {.kind = ScalarKind::text, .text = std::move(value)}; }
Scalar number(double value) { return {.kind = ScalarKind::number, .number = value}; }
Scalar boolean(bool value) { return {.kind = ScalarKind::boolean, .boolean = value}; }

Condition is(std::string argument, std::vector<Scalar> values) {
  return {
      .argument = std::move(argument), .kind = ConditionKind::one_of, .one_of = std::move(values)};
}
Condition between(std::string argument, double min, double max) {
  return {.argument = std::move(argument), .kind = ConditionKind::range, .min = min, .max = max};
}
Condition below(std::string argument, std::string directory) {
  return {
      .argument = std::move(argument), .kind = ConditionKind::below, .below = std::move(directory)};
}

Rule rule_with(Effect effect, std::vector<Condition> conditions) {
  Rule rule{.name = "rule[1]", .effect = effect, .binds_everybody = true};
  rule.tools = {{"t", false}};
  rule.arguments = std::move(conditions);
  return rule;
}

std::optional<Arguments> read(const std::string& arguments) {
  return read_arguments(R"({"name":"t","arguments":)" + arguments + "}");
}

AccessVerdict decided(const std::vector<Rule>& rules, const std::optional<Arguments>& arguments) {
  return Rights(rules, {}).decide({AccessKind::tool, "t", arguments ? &*arguments : nullptr});
}

Effect effect_of(const std::vector<Rule>& rules, const std::string& arguments) {
  return decided(rules, read(arguments)).effect;
}

std::string said(const Rule& rule, const std::string& json) {
  const std::vector<Rule> rules{rule};
  const auto arguments = read(json);
  return text_of(decided(rules, arguments));
}

/// What an allow and a deny with the same condition make of the same arguments.
struct Row {
  Condition condition;
  const char* arguments;
  bool allowed;
  bool denied;
  const char* why;
};

void expect(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(effect_of({rule_with(allow, {row.condition})}, row.arguments) == allow, row.allowed)
        << row.why;
    const Rule all = rule_with(allow, {});
    EXPECT_EQ(effect_of({all, rule_with(deny, {row.condition})}, row.arguments) == deny, row.denied)
        << row.why;
    EXPECT_EQ(effect_of({all, rule_with(ask, {row.condition})}, row.arguments) == ask, row.denied)
        << row.why;
  }
}

TEST(ArgumentsOfARule, NumbersAreOneHoweverTheyAreSpelled) {
  const Condition ten = is("n", {number(10)});
  expect({
      {ten, R"({"n":10})", true, true, "as an integer"},
      {ten, R"({"n":10.0})", true, true, "with a fraction of nothing"},
      {ten, R"({"n":1e1})", true, true, "with an exponent"},
      {ten, R"({"n":100E-1})", true, true, "with a negative exponent"},
      {ten, R"({"n":10.000000000000000})", true, true, "with many zeros"},
      {ten, R"({"n":11})", false, false, "another number is outside"},
      {ten, R"({"n":"10"})", false, true, "a text that reads as one is unclear"},
      {ten, R"({"n":[10]})", false, true, "a list with it is unclear"},
      {ten, R"({"n":{"n":10}})", false, true, "an object with it is unclear"},
      {ten, R"({"n":null})", false, true, "null is unclear"},
      {ten, R"({"n":10.0000000000000000001})", false, true, "what some parsers round is unclear"},
      {is("n", {number(0)}), R"({"n":-0.0})", true, true, "minus zero is zero"},
      {is("n", {number(0)}), R"({"n":1e-320})", false, true, "almost zero is unclear"},
  });
}

TEST(ArgumentsOfARule, ARangeHasBothItsEnds) {
  const Condition range = between("n", 1, 10);
  expect({
      {range, R"({"n":1})", true, true, "the least"},
      {range, R"({"n":10})", true, true, "the most"},
      {range, R"({"n":0.999})", false, false, "below"},
      {range, R"({"n":10.001})", false, false, "above"},
      {range, R"({"n":10.00000000000000000001})", false, true, "above by less than a double has"},
      {range, R"({"n":9007199254740993})", false, true, "an integer that doubles do not have"},
      {range, R"({"n":true})", false, true, "true is no number"},
      {range, R"({})", false, false, "what is not there is no number either"},
  });
}

TEST(ArgumentsOfARule, TextsAreComparedAsBytes) {
  const Condition mode = is("mode", {text("read"), text("caf\xc3\xa9")});
  expect({
      {mode, R"({"mode":"read"})", true, true, "the same"},
      {mode, R"({"mode":"\u0072ead"})", true, true, "the same, escaped"},
      {mode, R"({"mode":"caf\u00e9"})", true, true, "the same, escaped, composed"},
      {mode, R"({"mode":"cafe\u0301"})", false, false, "decomposed is another text"},
      {mode, R"({"mode":"READ"})", false, false, "case matters"},
      {mode, R"({"mode":"read "})", false, false, "blanks matter"},
      {mode, R"({"mode":""})", false, false, "nothing is another text"},
      {mode, R"({"mode":["read"]})", false, true, "a list is unclear"},
      {is("b", {boolean(true)}), R"({"b":true})", true, true, "a boolean"},
      {is("b", {boolean(true)}), R"({"b":"true"})", false, true, "is not its name"},
      {is("b", {boolean(true)}), R"({"b":1})", false, true, "nor a number"},
      {is("x", {number(5), text("max")}), R"({"x":"5"})", false, true, "perhaps the number 5"},
      {is("x", {number(5), text("max")}), R"({"x":4})", false, true, "perhaps a text of the list"},
      {is("x", {number(5), text("max")}), R"({"x":"max"})", true, true, "an entry of the list"},
      {is("x", {number(1), text("1")}), R"({"x":true})", false, true, "of none of its types"},
  });
}

TEST(ArgumentsOfARule, APathIsBelowADirectoryByItsSpelling) {
  const Condition work = below("path", "/w");
  expect({
      {work, R"({"path":"/w"})", true, true, "the directory itself"},
      {work, R"({"path":"/w/a/b"})", true, true, "what is in it"},
      {work, R"({"path":"//w///a/./b/"})", true, true, "slashes and dots fold"},
      {work, R"({"path":"/wx"})", false, false, "a name that begins alike"},
      {work, R"({"path":"/etc/passwd"})", false, false, "elsewhere"},
      {work, R"({"path":"/"})", false, false, "above"},
      {work, R"({"path":"/w/../etc"})", false, true, "up and down is unclear"},
      {work, R"({"path":"/w/a/.."})", false, true, "even where it seems to stay"},
      {work, R"({"path":"/w/..a"})", true, true, "but two dots may begin a name"},
      {work, R"({"path":"w/a"})", false, true, "relative to who knows what"},
      {work, R"({"path":"~/w"})", false, true, "a shell's home"},
      {work, R"({"path":"file:///w/a"})", false, true, "a URI is no path"},
      {work, R"({"path":"/w/a\u0000/../../etc"})", false, true, "a NUL ends it for some"},
      {work, R"({"path":""})", false, true, "nothing"},
      {work, R"({"path":["/w/a"]})", false, true, "a list of paths"},
      {below("path", "/"), R"({"path":"/any"})", true, true, "the root has everything"},
  });
  std::string long_path = "/w";
  for (int i = 0; i < 200'000; ++i) long_path += "/.";
  EXPECT_EQ(match_below("/w", long_path), Match::yes) << "however long";
}

TEST(ArgumentsOfARule, WhatTheRuleDoesNotNameIsNotGiven) {
  const std::vector<Rule> one{rule_with(allow, {is("a", {number(1)})})};
  EXPECT_EQ(effect_of(one, R"({"a":1})"), allow);
  for (const char* arguments : {R"({"a":1,"b":2})", R"({"a":1,"A":1})", R"({"a":1,"a ":1})",
                                R"({"a":1,"":null})", R"({"b":1})", "{}", "[]", "null", "\"a\""}) {
    EXPECT_EQ(effect_of(one, arguments), deny) << arguments;
  }
  std::vector<Rule> more{rule_with(allow, {is("a", {number(1)}), {.argument = "b"}})};
  EXPECT_EQ(effect_of(more, R"({"a":1,"b":[{}]})"), allow);
  EXPECT_EQ(effect_of(more, R"({"a":1})"), deny) << "what is named has to be there";
  more[0].arguments[1].is_optional = true;
  EXPECT_EQ(effect_of(more, R"({"a":1})"), allow);
}

TEST(ArgumentsOfARule, OthersDoNotHelpAgainstADeny) {
  const std::vector<Rule> rules{rule_with(allow, {}), rule_with(deny, {is("a", {number(1)})})};
  EXPECT_EQ(effect_of(rules, R"({"b":2,"a":1})"), deny);
  EXPECT_EQ(effect_of(rules, R"({"b":2})"), allow);
  EXPECT_EQ(effect_of(rules, "[]"), deny) << "arguments that are no object";
  EXPECT_EQ(effect_of(rules, R"({"\u0061":1})"), deny) << "an escaped name";
}

TEST(ArgumentsOfARule, AreFoundHoweverTheirKeyIsWritten) {
  const std::vector<Rule> rules{rule_with(allow, {}), rule_with(deny, {is("a", {number(1)})})};
  const auto escaped = read_arguments(R"({"name":"t","argum\u0065nts":{"a":1}})");
  ASSERT_TRUE(escaped.has_value());
  EXPECT_EQ(Rights(rules, {}).decide({AccessKind::tool, "t", &*escaped}).effect, deny);
}

TEST(ArgumentsOfARule, ThatAreAbsentAreNone) {
  const std::vector<Rule> rules{rule_with(allow, {is("a", {number(1)})})};
  const auto none = read_arguments(R"({"name":"t"})");
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->empty());
  EXPECT_EQ(Rights(rules, {}).decide({AccessKind::tool, "t", &*none}).effect, deny);
  EXPECT_FALSE(read_arguments(R"({"arguments":7})").has_value());
}

// --- what is left out, and has a default
// ----------------------------------------------------------

constexpr const char* with_defaults =
    R"({"name":"t","inputSchema":{"type":"object","properties":{)"
    R"("mode":{"type":"string","default":"force"},"depth":{"default":3,"type":"integer"},)"
    R"("path":{"type":"string","default":"/etc/x"},"list":{"default":["a"]},"none":{}}}})";

/// What a rule with this condition makes of a call whose tool has those defaults.
struct DefaultRow {
  Condition condition;
  const char* arguments;
  bool allowed;
  bool taken;
  const char* why;
};

Condition optionally(Condition condition) {
  condition.is_optional = true;
  return condition;
}

TEST(ArgumentsOfARule, ThatAreLeftOutAreTheirDefaultsForRulesThatTake) {
  const Arguments defaults = read_defaults(with_defaults);
  const Condition given{.argument = "mode", .kind = ConditionKind::any};
  const DefaultRow rows[] = {
      {is("mode", {text("force")}), "{}", false, true, "the default is what is denied"},
      {is("mode", {text("soft")}), "{}", false, false, "the default is another value"},
      {is("mode", {text("force")}), R"({"mode":"soft"})", false, false, "what is given decides"},
      {is("mode", {text("soft")}), R"({"mode":"soft"})", true, true, "what is given decides"},
      {is("mode", {text("force")}), R"({"mode":null})", false, true, "given, and unclear"},
      {is("mode", {number(1)}), "{}", false, true, "a default of another type is unclear"},
      {given, "{}", false, false, "a default is not given"},
      {optionally(is("mode", {text("soft")})), "{}", true, true, "optional takes as it did"},
      {between("depth", 2, 5), "{}", false, true, "a number within"},
      {between("depth", 4, 5), "{}", false, false, "a number outside"},
      {below("path", "/etc"), "{}", false, true, "a path below"},
      {below("path", "/srv"), "{}", false, false, "a path elsewhere"},
      {is("list", {text("a")}), "{}", false, true, "an array is unclear"},
      {is("none", {text("a")}), "{}", false, false, "no default, as without any"},
      {is("other", {text("a")}), "{}", false, false, "not in the schema"},
  };
  for (const DefaultRow& row : rows) {
    const auto arguments = read(row.arguments);
    const auto effect = [&](const std::vector<Rule>& rules) {
      return Rights(rules, {})
          .decide({.kind = AccessKind::tool,
                   .name = "t",
                   .arguments = &*arguments,
                   .defaults = &defaults})
          .effect;
    };
    const Rule all = rule_with(allow, {});
    EXPECT_EQ(effect({rule_with(allow, {row.condition})}) == allow, row.allowed) << row.why;
    EXPECT_EQ(effect({all, rule_with(deny, {row.condition})}) == deny, row.taken) << row.why;
    EXPECT_EQ(effect({all, rule_with(ask, {row.condition})}) == ask, row.taken) << row.why;
  }
}

TEST(ArgumentsOfARule, HaveNoDefaultsWhereNoneCanBeRead) {
  for (const char* definition : {"", "7", "{}", R"({"inputSchema":7})", R"({"inputSchema":{}})",
                                 R"({"inputSchema":{"properties":[]}})",
                                 R"({"inputSchema":{"properties":{"a":true,"b":{}}}})"}) {
    EXPECT_TRUE(read_defaults(definition).empty()) << definition;
  }
  EXPECT_EQ(read_defaults(with_defaults).size(), 4U);
}

TEST(ArgumentsOfARule, MoreThanAnybodyNamesAreGivenByNoRuleAndTakenByEach) {
  std::string many = R"({"a":1)";
  for (int i = 1; i < 1024; ++i) many += ",\"b" + std::to_string(i) + "\":1";
  EXPECT_TRUE(read(many + "}"));
  many += R"(,"c":1})";
  EXPECT_FALSE(read(many));
  const Condition one = is("a", {number(1)});
  EXPECT_EQ(effect_of({rule_with(allow, {one})}, many), deny);
  EXPECT_EQ(effect_of({rule_with(allow, {}), rule_with(deny, {one})}, many), deny);
}

TEST(ArgumentsOfARule, ARefusalSaysWhatMayBeThere) {
  EXPECT_EQ(said(rule_with(allow, {below("path", "/w")}), R"({"path":"/etc"})"),
            "not allowed with these arguments: the argument \"path\" must be an absolute path at "
            "or below /w, without \"..\" (rule[1])");
  EXPECT_EQ(said(rule_with(allow, {between("n", 1, 10)}), "{}"),
            "not allowed with these arguments: the argument \"n\" is missing; it must be a number "
            "from 1 to 10 (rule[1])");
  EXPECT_EQ(
      said(rule_with(allow, {is("a", {text("x"), boolean(true)})}), R"({"a":"x","\u202e":1})"),
      "not allowed with these arguments: the argument \"\\u{202e}\" may not be given "
      "(rule[1])");
  EXPECT_EQ(said(rule_with(ask, {}), "{}"), "this needs an approval (rule[1])");
}

TEST(ExactNumber, IsOneThatAllParsersAgreeOn) {
  EXPECT_EQ(exact_number("9007199254740991"), 9007199254740991.0);
  EXPECT_EQ(exact_number("9007199254740992"), std::nullopt);
  EXPECT_EQ(exact_number("0.1"), 0.1);
  EXPECT_EQ(exact_number("0.123456789012345"), 0.123456789012345);
  EXPECT_EQ(exact_number("0.1234567890123456"), std::nullopt);
  EXPECT_EQ(exact_number("1e20"), 1e20);
  EXPECT_EQ(exact_number("1e999"), std::nullopt);
  EXPECT_EQ(exact_number("1x"), std::nullopt);
  EXPECT_EQ(exact_number(""), std::nullopt);
}

}  // namespace
}  // namespace cellblock
