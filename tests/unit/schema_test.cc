#include <gtest/gtest.h>

#include <string>

#include "policy/schema/schema_validator.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock {
namespace {

using gateway::read_tree;

/// "ok", or "POINTER: EXPECTED".
std::string verdict(std::string_view schema_text, std::string_view value,
                    std::size_t steps = max_schema_steps) {
  const auto schema = make_schema(read_tree(schema_text));
  if (!schema) return "unusable: " + schema.error();
  const auto fault = schema_fault(*schema, read_tree(value), steps);
  return fault ? fault->pointer + ": " + fault->expected : "ok";
}

TEST(Schema, HoldsTypesToTheirNames) {
  constexpr auto schema = R"({"properties":{"s":{"type":"string"},"n":{"type":"number"},
    "i":{"type":"integer"},"b":{"type":"boolean"},"a":{"type":"array"},"o":{"type":"object"},
    "z":{"type":["null","string"]}}})";
  EXPECT_EQ(verdict(schema, R"({"s":"x","n":1.5,"i":2,"b":true,"a":[],"o":{},"z":null})"), "ok");
  EXPECT_EQ(verdict(schema, R"({"s":1})"), "/s: a string, and it is an integer");
  EXPECT_EQ(verdict(schema, R"({"n":"1"})"), "/n: a number, and it is a string");
  EXPECT_EQ(verdict(schema, R"({"i":1.5})"), "/i: an integer, and it is a number");
  EXPECT_EQ(verdict(schema, R"({"b":0})"), "/b: a boolean, and it is an integer");
  EXPECT_EQ(verdict(schema, R"({"z":[]})"), "/z: a string or null, and it is an array");
}

TEST(Schema, TakesEverySpellingOfANumberForTheNumberThatItIs) {
  constexpr auto schema = R"({"properties":{"i":{"type":"integer","maximum":100}}})";
  for (const char* number : {"1", "1.0", "1e2", "100", "1E+2", "-0", "1000e-1"}) {
    EXPECT_EQ(verdict(schema, std::string(R"({"i":)") + number + "}"), "ok") << number;
  }
  for (const char* number : {"101", "1.5", "1e3", "100.0000000001", "123456789012345678901234"}) {
    EXPECT_NE(verdict(schema, std::string(R"({"i":)") + number + "}"), "ok") << number;
  }
  EXPECT_EQ(verdict(R"({"const":9007199254740993})", "9007199254740993"), "ok");
  EXPECT_NE(verdict(R"({"const":9007199254740993})", "9007199254740992"), "ok");
}

TEST(Schema, BoundsNumbers) {
  EXPECT_EQ(verdict(R"({"minimum":1})", "0"), ": a number of at least 1");
  EXPECT_EQ(verdict(R"({"exclusiveMaximum":5})", "5"), ": a number below 5");
  EXPECT_EQ(verdict(R"({"minimum":1,"exclusiveMinimum":true})", "1"), ": a number above 1");
  EXPECT_EQ(verdict(R"({"multipleOf":0.1})", "0.3"), "ok");
  EXPECT_EQ(verdict(R"({"multipleOf":5})", "7"), ": a multiple of 5");
}

TEST(Schema, CountsCharactersAndNotBytes) {
  EXPECT_EQ(verdict(R"({"maxLength":2})", R"("äö")"), "ok");
  EXPECT_EQ(verdict(R"({"maxLength":2})", R"("abc")"), ": at most 2 characters, and it has 3");
  EXPECT_EQ(verdict(R"({"minLength":1})", R"("")"), ": at least 1 characters, and it has 0");
}

TEST(Schema, LooksForPatternsAnywhere) {
  EXPECT_EQ(verdict(R"({"pattern":"b+"})", R"("abc")"), "ok");
  EXPECT_EQ(verdict(R"({"pattern":"^b+$"})", R"("abc")"), ": a text that matches ^b+$");
}

TEST(Schema, NamesPatternsThatItCannotRead) {
  const auto schema =
      make_schema(read_tree(R"({"pattern":"(?=a)b","unevaluatedProperties":false})"));
  ASSERT_TRUE(schema);
  EXPECT_EQ(schema->ignored, (std::vector<std::string>{"pattern (?=a)b", "unevaluatedProperties"}));
}

TEST(Schema, ComparesEnumsAsValuesAndTextsAsBytes) {
  constexpr auto schema = R"({"enum":["caf\u00e9",1,{"a":[1,2]},null]})";
  EXPECT_EQ(verdict(schema, R"("café")"), "ok");
  EXPECT_EQ(verdict(schema, R"({"a":[1.0,2]})"), "ok");
  EXPECT_EQ(verdict(schema, "null"), "ok");
  EXPECT_NE(verdict(schema, "\"cafe\u0301\""), "ok");
  EXPECT_NE(verdict(schema, R"("CAFÉ")"), "ok");
  EXPECT_EQ(verdict(R"({"enum":["a","b"]})", R"("c")"), ": one of \"a\", \"b\"");
}

TEST(Schema, WantsTheMembersThatAreRequired) {
  constexpr auto schema = R"({"type":"object","required":["path"],"properties":{"path":{}}})";
  EXPECT_EQ(verdict(schema, R"({"Path":"/x"})"), ": a member \"path\"");
  EXPECT_EQ(verdict(schema, R"({"path":null})"), "ok");
}

TEST(Schema, WantsARequiredMemberThatHasADefaultToo) {
  constexpr auto schema =
      R"({"required":["mode"],"properties":{"mode":{"enum":["read","write"],"default":"write"}}})";
  EXPECT_EQ(verdict(schema, "{}"), ": a member \"mode\"");
}

TEST(Schema, TellsWhichMembersThereAre) {
  constexpr auto schema =
      R"({"properties":{"a":{},"b":{}},"additionalProperties":false,"patternProperties":{"^x-":{}}})";
  EXPECT_EQ(verdict(schema, R"({"a":1,"x-y":2})"), "ok");
  EXPECT_EQ(verdict(schema, R"({"A":1})"), "/A: no such member; there are \"a\", \"b\"");
  EXPECT_EQ(verdict(schema, "{\"\u0430\":1}"), "/\u0430: no such member; there are \"a\", \"b\"");
  EXPECT_EQ(verdict(R"({"additionalProperties":{"type":"string"}})", R"({"q":1})"),
            "/q: a string, and it is an integer");
}

TEST(Schema, PointsIntoArraysAndObjects) {
  constexpr auto schema =
      R"({"properties":{"l":{"items":{"properties":{"a/b":{"type":"string"}}}}}})";
  EXPECT_EQ(verdict(schema, R"({"l":[{},{"a/b":3}]})"),
            "/l/1/a~1b: a string, and it is an integer");
}

TEST(Schema, KnowsBothWaysToWriteTuples) {
  for (const char* schema : {R"({"prefixItems":[{"type":"string"}],"items":false})",
                             R"({"items":[{"type":"string"}],"additionalItems":false})"}) {
    EXPECT_EQ(verdict(schema, R"(["a"])"), "ok");
    EXPECT_EQ(verdict(schema, "[1]"), "/0: a string, and it is an integer");
    EXPECT_EQ(verdict(schema, R"(["a",1])"), "/1: nothing here");
  }
}

TEST(Schema, HoldsArraysToTheirCounts) {
  EXPECT_EQ(verdict(R"({"minItems":1})", "[]"), ": at least 1 items, and it has 0");
  EXPECT_EQ(verdict(R"({"uniqueItems":true})", "[1,2,1.0]"), ": items that all differ");
  EXPECT_EQ(verdict(R"({"uniqueItems":true})", R"([1,"1",[1]])"), "ok");
  EXPECT_EQ(verdict(R"({"contains":{"type":"string"},"maxContains":1})", R"([1,"a"])"), "ok");
  EXPECT_NE(verdict(R"({"contains":{"type":"string"}})", "[1]"), "ok");
  EXPECT_EQ(verdict(R"({"contains":{"type":"string"},"minContains":0})", "[1]"), "ok");
}

TEST(Schema, CombinesSchemas) {
  EXPECT_EQ(verdict(R"({"allOf":[{"minimum":1},{"maximum":3}]})", "2"), "ok");
  EXPECT_NE(verdict(R"({"allOf":[{"minimum":1},{"maximum":3}]})", "4"), "ok");
  EXPECT_EQ(verdict(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "null"), "ok");
  EXPECT_EQ(verdict(R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "1"),
            ": a string; or null");
  EXPECT_NE(verdict(R"({"oneOf":[{"minimum":1},{"maximum":3}]})", "2"), "ok");
  EXPECT_EQ(verdict(R"({"oneOf":[{"minimum":1},{"maximum":3}]})", "9"), "ok");
  EXPECT_NE(verdict(R"({"not":{"type":"string"}})", R"("a")"), "ok");
  constexpr auto schema =
      R"({"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}})";
  EXPECT_EQ(verdict(schema, R"({"a":1})"), ": a member \"b\"");
  EXPECT_EQ(verdict(schema, R"({"c":1})"), "ok");
}

TEST(Schema, SaysWhichFormWasMeantWhereOneWasFollowedFurther) {
  constexpr auto schema = R"({"anyOf":[{"type":"string"},
    {"type":"object","properties":{"kind":{"enum":["x"]}}}]})";
  EXPECT_EQ(verdict(schema, R"({"kind":"y"})"), "/kind: \"x\"");
}

TEST(Schema, KnowsWhatOneMemberNeedsOfOthers) {
  for (const char* key : {"dependentRequired", "dependencies"}) {
    const std::string schema = "{\"" + std::string(key) + R"(":{"a":["b"]}})";
    EXPECT_EQ(verdict(schema, R"({"a":1})"), ": a member \"b\" beside \"a\"") << key;
    EXPECT_EQ(verdict(schema, R"({"b":1})"), "ok");
  }
  EXPECT_NE(verdict(R"({"dependentSchemas":{"a":{"required":["c"]}}})", R"({"a":1})"), "ok");
}

TEST(Schema, FollowsReferencesWithinItself) {
  constexpr auto schema =
      R"({"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"},
    "v":{"type":"integer"}},"required":["v"]}},"$ref":"#/$defs/n"})";
  EXPECT_EQ(verdict(schema, R"({"v":1,"next":{"v":2}})"), "ok");
  EXPECT_EQ(verdict(schema, R"({"v":1,"next":{"v":"2"}})"),
            "/next/v: an integer, and it is a string");
}

TEST(Schema, InOldDraftsSaysNothingBesideAReference) {
  constexpr auto rest =
      R"("$ref":"#/definitions/s","maxLength":1,"definitions":{"s":{"type":"string"}}})";
  EXPECT_EQ(verdict(std::string(R"({"$schema":"http://json-schema.org/draft-07/schema#",)") + rest,
                    R"("abc")"),
            "ok");
  EXPECT_NE(verdict(std::string("{") + rest, R"("abc")"), "ok");
}

// What is compared is as long as host and server like.
TEST(Schema, CountsTheSizeOfWhatIsCompared) {
  const std::string less_time = "something that can be checked in less time";
  const std::string digits = "1." + std::string(10'000, '1');
  const std::string list = R"({"enum":[[)" + digits + "]]}";
  EXPECT_EQ(verdict(list, "[" + digits + "]", 1'000), ": " + less_time);
  EXPECT_EQ(verdict(list, "[" + digits + "]"), "ok");

  std::string long_names = "{";
  for (const char* name : {"1", "2", "3", "4"}) {
    long_names +=
        (long_names.size() == 1 ? "\"" : ",\"") + std::string(20'000, 'k') + name + "\":1";
  }
  long_names += "}";
  EXPECT_EQ(verdict(R"({"const":)" + long_names + "}", long_names, 1'000), ": " + less_time);
  EXPECT_EQ(verdict(R"({"const":)" + long_names + "}", long_names), "ok");
}

TEST(Schema, CountsTheMembersThatItWalksThrough) {
  std::string often = R"({"allOf":[{})";
  for (int i = 0; i < 100; ++i) often += R"(,{"maxProperties":5000})";
  std::string many = R"({"m":0)";
  for (int i = 0; i < 1'000; ++i) many += ",\"m" + std::to_string(i) + "\":0";
  EXPECT_EQ(verdict(often + "]}", many + "}", 50'000),
            ": something that can be checked in less time");
  EXPECT_EQ(verdict(often + "]}", many + "}"), "ok");
}

TEST(Schema, IsOfNoUseWhereItCannotBeUnderstood) {
  EXPECT_EQ(verdict(R"({"$ref":"https://example.com/s"})", "1"),
            "unusable: a $ref that is no path in it");
  EXPECT_EQ(verdict(R"({"$ref":"#/nowhere"})", "1"), "unusable: a $ref to nothing");
  EXPECT_EQ(verdict(R"({"type":"file"})", "1"), "unusable: a type that JSON does not have");
  EXPECT_EQ(verdict(R"({"properties":{"a":{"$id":"x"}}})", "{}"),
            "unusable: a schema with an $id of its own");
  EXPECT_EQ(verdict("3", "1"), "unusable: a schema that is no object");
}

TEST(Schema, EndsWhereASchemaRefersToItselfForEver) {
  EXPECT_EQ(verdict(R"({"$ref":"#"})", "{}"), ": something that can be checked in less time");
  EXPECT_EQ(
      verdict(R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"})",
              "1"),
      ": something that can be checked in less time");
}

TEST(Schema, CountsWhatItDoesSoThatNoValueTakesForEver) {
  std::string doubling =
      R"({"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}},{"const":1}],"type":"array"})";
  std::string deep = "1";
  for (int i = 0; i < 60; ++i) deep = "[" + deep + "]";
  EXPECT_NE(verdict(doubling, deep).find("less time"), std::string::npos);
  std::string twins = "[0";
  for (int i = 1; i < 5000; ++i) twins += "," + std::to_string(i);
  EXPECT_NE(verdict(R"({"uniqueItems":true})", twins + "]").find("less time"), std::string::npos);
}

TEST(Schema, BoundsWhatItIsMadeFrom) {
  std::string many = R"({"anyOf":[{})";
  for (int i = 0; i < 5000; ++i) many += ",{}";
  EXPECT_EQ(verdict(many + "]}", "1"), "unusable: too many schemas in it");
  EXPECT_EQ(verdict(R"({"description":")" + std::string(300'000, 'x') + "\"}", "1"),
            "unusable: it is too large");
}

TEST(Schema, ThatTakesEveryObjectIsKnown) {
  for (const char* schema :
       {R"({"type":"object"})", R"({"type":"object","title":"t","properties":{}})", R"({})"}) {
    EXPECT_TRUE(make_schema(read_tree(schema))->takes_every_object()) << schema;
  }
  for (const char* schema : {R"({"type":"object","required":["a"]})", R"({"type":"string"})",
                             R"({"additionalProperties":false})", R"({"properties":{"a":{}}})"}) {
    EXPECT_FALSE(make_schema(read_tree(schema))->takes_every_object()) << schema;
  }
}

}  // namespace
}  // namespace cellblock
