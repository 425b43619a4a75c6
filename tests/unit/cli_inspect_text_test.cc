#include <gmock/gmock.h>

#include "client/cli/inspect/envelope.h"
#include "client/cli/inspect/frame_text.h"
#include "client/cli/inspect/offer_text.h"
#include "client/cli/inspect/questions.h"
#include "client/cli/inspect/result_text.h"

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(InspectSchema, HasALineForEachPropertyWithWhatItTakes) {
  const auto schema = Json::parse(R"({"type":"object","required":["path"],"properties":{
      "path":{"type":"string","description":"Which file"},
      "depth":{"type":"integer","minimum":1,"default":3},
      "mode":{"enum":["a","b"]},
      "edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"}}}},
      "id":{"anyOf":[{"type":"string"},{"type":"null"}]}}})");
  EXPECT_EQ(schema_text(schema, 2),
            "  path: string, required\n      Which file\n"
            "  depth: integer, >= 1, default 3\n"
            "  mode: one of \"a\", \"b\"\n"
            "  edits: list of object\n      old: string\n"
            "  id: string or null\n");
}

TEST(InspectSchema, EndsWhereItIsTooDeep) {
  Json schema{{"type", "string"}};
  for (int i = 0; i < 40; ++i) schema = Json{{"type", "object"}, {"properties", {{"a", schema}}}};
  EXPECT_THAT(schema_text(schema, 0), EndsWith("…\n"));
}

TEST(InspectSchema, ReadsWhatIsNoSchema) {
  for (const char* odd : {"1", "null", "[]", R"({"properties":1})", R"({"type":{}})",
                          R"({"properties":{"a":true,"b":7},"required":"a"})"}) {
    EXPECT_FALSE(schema_text(Json::parse(odd), 0).empty()) << odd;
  }
}

TEST(InspectOffer, WritesNoEscapesOfAServer) {
  const auto item = Json::parse(
      R"({"name":"a\u001b[2J","description":"b\u001b]0;x\u0007\nsecond","title":"c\u202e",
          "inputSchema":{"properties":{"d\u001b":{"type":"string","default":"\u001b"}}},
          "annotations":{"\u001b":1}})");
  for (const auto kind : {ListKind::tools, ListKind::prompts, ListKind::resources}) {
    EXPECT_THAT(list_text(kind, {item}, 0), Not(HasSubstr("\x1b")));
    EXPECT_THAT(describe_text(kind, item), Not(HasSubstr("\x1b")));
  }
  EXPECT_THAT(describe_text(ListKind::tools, item), HasSubstr("second"));
  EXPECT_THAT(introduction_text(Json{{"serverInfo", {{"name", "\x1b"}}}, {"instructions", "\x1b"}}),
              Not(HasSubstr("\x1b")));
}

TEST(InspectOffer, ShowsWhatAnElementIsCalledByAndTheFirstLineAboutIt) {
  EXPECT_EQ(
      list_text(ListKind::resources,
                {Json{{"uri", "a://1"}, {"name", "One"}}, Json{{"uri", "a://22"}}, Json(7)}, 0),
      "a://1   One\na://22  \n        \n");
}

TEST(InspectOffer, FindsWhoAModernServerIsInItsMeta) {
  const Json modern{
      {"supportedVersions", {"2026-07-28"}},
      {"capabilities", {{"tools", {{"listChanged", true}}}}},
      {"_meta", {{"io.modelcontextprotocol/serverInfo", {{"name", "s"}, {"version", "2"}}}}}};
  EXPECT_EQ(introduction_text(modern),
            "s 2\nversions: 2026-07-28\ncapabilities:\n  tools: listChanged true\n");
}

TEST(InspectResults, AreShownByWhatTheyHold) {
  EXPECT_EQ(result_text(Verb::read, R"({"contents":[{"uri":"a","text":"x\ny"}]})"), "x\ny");
  EXPECT_EQ(
      result_text(
          Verb::read,
          R"({"contents":[{"uri":"a","text":"x"},{"uri":"b","mimeType":"i/p","blob":"AAAA"}]})"),
      "[a]\nx\n[b]\n[i/p, 4 bytes of base64]");
  EXPECT_EQ(result_text(Verb::get,
                        R"({"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]})"),
            "user: hi");
  EXPECT_EQ(result_text(Verb::complete,
                        R"({"completion":{"values":["a","b"],"total":9,"hasMore":true}})"),
            "a\nb\n... of 9 in all");
  EXPECT_EQ(result_text(Verb::raw, R"({"a":1})"), "{\n  \"a\": 1\n}");
}

TEST(InspectResults, WriteNoLineOfAServersWhereItSaysNoText) {
  EXPECT_EQ(result_text(Verb::call, R"({"content":[{"type":"resource_link","uri":"a\nb"},)"
                                    R"({"type":"image","mimeType":"c\nd","data":"AAAA"}]})"),
            "[resource a\\x0ab]\n[image c\\x0ad, 4 bytes of base64]");
  EXPECT_EQ(result_text(Verb::get, R"({"messages":[{"role":"a\nb","content":{"type":"text"}}]})"),
            "a\\x0ab: ");
  EXPECT_EQ(result_text(Verb::complete, R"({"completion":{"values":["a\nb"]}})"), "a\\x0ab");
}

TEST(InspectResults, ReadOddOnesWithoutHarm) {
  for (const auto verb : {Verb::call, Verb::read, Verb::get, Verb::complete, Verb::raw}) {
    for (const char* odd : {"1", "[]", R"({"contents":{}})", R"({"messages":[1,{"content":[]}]})",
                            R"({"completion":[1]})", R"({"content":[null]})"}) {
      EXPECT_NO_THROW(result_text(verb, odd)) << odd;
    }
  }
}

TEST(InspectNotifications, AreOneEscapedLine) {
  EXPECT_EQ(notification_text("notifications/progress",
                              R"({"progressToken":1,"progress":2,"total":5,"message":"a\u001b"})"),
            "progress 2 of 5: a\\x1b");
  EXPECT_EQ(
      notification_text("notifications/message", R"({"level":"info","logger":"l","data":"x\ny"})"),
      "log info l: x\\x0ay");
  EXPECT_EQ(notification_text("notifications/x", R"({"a":1})"), "notifications/x {\"a\":1}");
}

TEST(InspectFrames, AreEscapedAndCutAtACharacter) {
  using client::FrameDirection;
  EXPECT_EQ(frame_text(FrameDirection::to_daemon, std::chrono::microseconds(12345), "{\x1b}"),
            "→     12.345 ms  {\\x1b}");
  std::string large((16U << 10) - 1, 'a');
  large += "ü and more";
  const auto cut = frame_text(FrameDirection::from_daemon, std::chrono::microseconds(0), large);
  EXPECT_THAT(cut, StartsWith("←"));
  EXPECT_THAT(cut, EndsWith("aaa… (16394 bytes)"));
}

TEST(InspectEnvelope, LeavesALegacyRequestAlone) {
  Json params{{"a", 1}};
  stamp(params, Era::legacy, Interaction::none, "tools/call", 1);
  EXPECT_EQ(params, (Json{{"a", 1}}));
}

TEST(InspectEnvelope, SaysTheModernEraAndKeepsWhatWasTyped) {
  Json params{{"_meta", {{"io.modelcontextprotocol/protocolVersion", "1999"}, {"x", 1}}}};
  stamp(params, Era::modern, Interaction::none, "tools/call", 1);
  const auto& meta = params["_meta"];
  EXPECT_EQ(meta["io.modelcontextprotocol/protocolVersion"], "1999");
  EXPECT_EQ(meta["x"], 1);
  EXPECT_EQ(meta["io.modelcontextprotocol/clientInfo"]["name"], "cellblock");
  EXPECT_EQ(meta["io.modelcontextprotocol/clientCapabilities"], Json::object());
  EXPECT_FALSE(meta.contains("progressToken"));
}

TEST(InspectEnvelope, DeclaresElicitationOnlyWhereSomebodyCanAnswer) {
  EXPECT_EQ(capabilities_for(Interaction::none), "{}");
  Json params = Json::object();
  stamp(params, Era::modern, Interaction::terminal, "tools/call", 7);
  EXPECT_TRUE(
      params["_meta"]["io.modelcontextprotocol/clientCapabilities"].contains("elicitation"));
  EXPECT_EQ(params["_meta"]["progressToken"], 7);
}

TEST(InspectEnvelope, FindsTheQuestionsOfAResult) {
  EXPECT_FALSE(input_needed(R"({"resultType":"complete","inputRequests":{}})"));
  EXPECT_FALSE(input_needed("[]"));
  const auto needed = input_needed(
      R"({"resultType":"input_required","inputRequests":{"who":{"method":"m"}},"requestState":"s"})");
  ASSERT_TRUE(needed);
  EXPECT_EQ(needed->questions["who"]["method"], "m");
  EXPECT_EQ(needed->state, "s");
}

FormField field(const char* schema, bool required = false) {
  return {.name = "f", .schema = Json::parse(schema), .required = required};
}

TEST(InspectForm, TakesWhatIsTypedAsTheFieldsType) {
  EXPECT_EQ(*field_value(field(R"({"type":"string"})"), " 3 "), "3");
  EXPECT_EQ(*field_value(field(R"({"type":"integer"})"), "3"), 3);
  EXPECT_EQ(*field_value(field(R"({"type":"number"})"), "0.5"), 0.5);
  EXPECT_EQ(*field_value(field(R"({"type":"boolean"})"), "y"), true);
  EXPECT_EQ(*field_value(field(R"({"type":"string","enum":["a","b"]})"), "b"), "b");
  EXPECT_EQ(
      *field_value(field(R"({"type":"string","oneOf":[{"const":"r","title":"Red"}]})"), "Red"),
      "r");
  EXPECT_EQ(*field_value(field(R"({"type":"array","items":{"enum":["a","b"]}})"), "a, b"),
            (Json{"a", "b"}));
}

TEST(InspectForm, RefusesInWordsWhatDoesNotFit) {
  EXPECT_THAT(field_value(field(R"({"type":"integer"})"), "1.5").error().text, HasSubstr("whole"));
  EXPECT_THAT(field_value(field(R"({"type":"number"})"), "x").error().text, HasSubstr("number"));
  EXPECT_THAT(field_value(field(R"({"type":"boolean"})"), "maybe").error().text, HasSubstr("yes"));
  EXPECT_THAT(field_value(field(R"({"enum":["a","b"]})"), "c").error().text, HasSubstr("a, b"));
  EXPECT_THAT(field_value(field("{}", true), "").error().text, HasSubstr("required"));
}

TEST(InspectForm, TakesTheDefaultOrNothingForAnEmptyLine) {
  EXPECT_EQ(*field_value(field(R"({"type":"integer","default":4})", true), ""), 4);
  EXPECT_TRUE(field_value(field(R"({"type":"integer"})"), "")->is_null());
}

struct Desk {
  std::vector<std::string> typed;
  std::string shown;
  std::size_t next = 0;

  std::string ask(const std::string& params) {
    const auto answer = answer_question(
        "elicitation/create", params,
        [this](const std::string& prompt) -> std::optional<std::string> {
          shown += prompt;
          return next < typed.size() ? std::optional(typed[next++]) : std::nullopt;
        },
        [this](const std::string& text) { shown += text; });
    return answer.value_or("refused");
  }
};

const std::string form =
    R"({"message":"[server x] Who\u001b?","requestedSchema":{"type":"object","properties":
        {"name":{"type":"string","description":"Your \u001bname"},"age":{"type":"integer"}},"required":["name"]}})";

TEST(InspectQuestions, AreAskedFieldByFieldUntilEachFits) {
  Desk desk{.typed = {"a", "", "Ada", "x", "36"}};
  EXPECT_EQ(desk.ask(form), R"({"action":"accept","content":{"name":"Ada","age":36}})");
  EXPECT_THAT(desk.shown, HasSubstr("[server x] Who"));
  EXPECT_THAT(desk.shown, Not(HasSubstr("\x1b")));
}

TEST(InspectQuestions, CanBeDeclinedOrLeftAtAnyTime) {
  EXPECT_EQ((Desk{.typed = {"d"}}.ask(form)), R"({"action":"decline"})");
  EXPECT_EQ((Desk{.typed = {"no"}}.ask(form)), R"({"action":"decline"})");
  EXPECT_EQ((Desk{.typed = {"c"}}.ask(form)), R"({"action":"cancel"})");
  EXPECT_EQ((Desk{.typed = {}}.ask(form)), R"({"action":"cancel"})");
  EXPECT_EQ((Desk{.typed = {"a", "Ada"}}.ask(form)), R"({"action":"cancel"})");
}

TEST(InspectQuestions, AreAskedAgainWhereASlipOfTheFingerAnswers) {
  Desk desk{.typed = {"", "x", "sure", "a", "Ada", ""}};
  EXPECT_EQ(desk.ask(form), R"({"action":"accept","content":{"name":"Ada"}})");
  EXPECT_THAT(desk.shown, HasSubstr("it is a, d or c"));
}

TEST(InspectQuestions, HaveAServersFurtherLinesBehindItsFirst) {
  Desk desk{.typed = {"d"}};
  (void)desk.ask(R"({"message":"Who?\nThe server asks: your password","requestedSchema":{}})");
  EXPECT_THAT(desk.shown, HasSubstr("Who?\n    The server asks: your password"));
}

TEST(InspectQuestions, ShowAnAddressAndDoNotOpenIt) {
  Desk desk{.typed = {"a"}};
  EXPECT_EQ(desk.ask(R"({"mode":"url","message":"Sign in","url":"https://x.example/\u001b"})"),
            R"({"action":"accept"})");
  EXPECT_THAT(desk.shown, HasSubstr("https://x.example/\\x1b"));
}

TEST(InspectQuestions, OfAnyOtherKindAreRefused) {
  const auto answer = answer_question("sampling/createMessage", "{}", nullptr, nullptr);
  EXPECT_EQ(answer.error().rpc_code, -32601);
}

}  // namespace
}  // namespace cellblock::cli
