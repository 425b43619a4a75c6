#include "policy/jsonrpc/jsonrpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace cellblock {

void PrintTo(MessageFault fault, std::ostream* out) { *out << explain(fault); }

namespace {

// Bytes behind the line that would complete it, if anything looked at them.
constexpr char tempting[] = {'}', ']', '"', ',', ':', '1', ' ', '\n', '\0', '{', '['};

using Scanned = std::expected<Message, Refused>;

Scanned scan(const std::string& line, char behind = '}') {
  static MessageScanner scanner;
  const std::string padded = line + std::string(MessageScanner::padding, behind);
  return scanner.scan(std::string_view{padded}.substr(0, line.size()));
}

Message good(const std::string& line) {
  auto scanned = scan(line);
  EXPECT_TRUE(scanned.has_value()) << line << ": " << scanned.error().detail;
  return scanned.value_or(Message{});
}

std::string members(std::string_view more) {
  return R"({"jsonrpc":"2.0",)" + std::string{more} + "}";
}

std::string with_value(std::string_view value) {
  return members(R"("id":1,"result":{"v":)" + std::string{value} + "}");
}

TEST(MessageScanner, TellsTheKindsApart) {
  EXPECT_EQ(good(members(R"("id":1,"method":"ping")")).kind, MessageKind::request);
  EXPECT_EQ(good(members(R"("method":"ping")")).kind, MessageKind::notification);
  EXPECT_EQ(good(members(R"("id":1,"result":null)")).kind, MessageKind::result);
  EXPECT_EQ(good(members(R"("id":1,"error":{"code":-1,"message":""})")).kind, MessageKind::error);
  EXPECT_EQ(good(members(R"("error":{"code":-1,"message":""})")).kind, MessageKind::error);
}

TEST(MessageScanner, LocatesThePartsOfACall) {
  const std::string line =
      R"( { "params" : {"name": "re\u0061d" , "arguments":{"name":"x","_meta":{"progressToken":9}},)"
      R"( "_meta":{"progressToken": "t" ,"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
      R"("io.modelcontextprotocol/clientCapabilities": { "roots":{} } }} ,)"
      R"( "method":"tools\/call","id": "a\"b" ,"jsonrpc":"2.0" } )";
  const Message message = good(line);
  EXPECT_EQ(message.method, "tools/call");
  EXPECT_EQ(message.id.in(line), R"("a\"b")");
  EXPECT_EQ(message.name.in(line), R"("re\u0061d")");
  EXPECT_EQ(message.name_text, "read");
  EXPECT_EQ(message.meta_progress_token.in(line), R"("t")");
  EXPECT_EQ(message.protocol_version.in(line), R"("2026-07-28")");
  EXPECT_EQ(message.client_capabilities.in(line), R"({ "roots":{} })");
  EXPECT_TRUE(message.params.in(line).starts_with(R"({"name")"));
  EXPECT_TRUE(message.params.in(line).ends_with("} }}"));
  EXPECT_TRUE(message.is_modern());
}

TEST(MessageScanner, LocatesThePartsOfNotificationsAndInitialize) {
  const std::string line = members(
      R"("method":"x","params":{"requestId":7,"progressToken":-8,"progress": 1e3 ,"uri":"file:///","capabilities":{}})");
  const Message message = good(line);
  EXPECT_EQ(message.request_id.in(line), "7");
  EXPECT_EQ(message.progress_token.in(line), "-8");
  EXPECT_EQ(message.progress.in(line), "1e3");
  EXPECT_EQ(message.uri.in(line), R"("file:///")");
  EXPECT_EQ(message.capabilities.in(line), "{}");
  EXPECT_FALSE(message.is_modern());
  EXPECT_TRUE(message.id.empty());
}

TEST(MessageScanner, LocatesTheSubscriptionInEitherMeta) {
  const std::string meta = R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"s:1"}})";
  const std::string notice = members(R"("method":"x","params":)" + meta);
  EXPECT_EQ(good(notice).subscription_id.in(notice), R"("s:1")");
  const std::string result = members(R"("id":1,"result":)" + meta);
  EXPECT_EQ(good(result).subscription_id.in(result), R"("s:1")");
}

TEST(MessageScanner, LocatesResultsAndErrorsOfEveryShape) {
  for (const std::string value :
       {"{}", "[1, 2]", "\"x\"", "12.5e3", "null", "true", "{\"a\":{}}"}) {
    const std::string line = members("\"id\":0,\"result\": " + value + " ");
    EXPECT_EQ(good(line).result.in(line), value);
  }
  const std::string line = members(R"("id":"", "error" : {"message":"m","code":1,"data":[]} )");
  EXPECT_EQ(good(line).error.in(line), R"({"message":"m","code":1,"data":[]})");
  EXPECT_EQ(good(line).id.in(line), R"("")");
}

TEST(MessageScanner, ListsEveryElementOfTools) {
  const std::string line = members(
      R"("id":1,"result":{"tools":[{"name":"a","inputSchema":{"name":"z","tools":[{"name":"y"}]}},)"
      R"( {"name":3} ,7,{"title":"t"},{"name":"\u0062"}],"other":[{"name":"c"}]})");
  const Message message = good(line);
  ASSERT_EQ(message.tools.size(), 5U);
  EXPECT_EQ(message.tools[0].name, "a");
  EXPECT_TRUE(message.tools[0].element.in(line).ends_with("]}}"));
  EXPECT_EQ(message.tools[1].name, "");
  EXPECT_EQ(message.tools[1].element.in(line), R"({"name":3})");
  EXPECT_EQ(message.tools[2].element.in(line), "7");
  EXPECT_EQ(message.tools[3].name, "");
  EXPECT_EQ(message.tools[4].name, "b");
}

TEST(MessageScanner, DoesNotTakeOtherShapesOfToolsForAList) {
  EXPECT_TRUE(good(members(R"("id":1,"result":{"tools":{"name":"a"}})")).tools.empty());
  EXPECT_TRUE(good(members(R"("id":1,"result":[{"tools":[{"name":"a"}]}])")).tools.empty());
  EXPECT_TRUE(good(members(R"("method":"m","params":{"tools":[{}]})")).tools.empty());
}

TEST(MessageScanner, NamesWhatIsAskedOfTheClientInsideAnAnswerOrANotification) {
  const std::string requests =
      R"({"inputRequests":{"a":{"params":{"method":"no"},"method":"roots\u002flist"},"b":{},)"
      R"("c":[{"method":"no"}],"d":{"method":["no"]},"method":{"method":"x"}}})";
  const std::vector<std::string> methods{"roots/list", "", "", "", "x"};
  EXPECT_EQ(good(members(R"("id":1,"result":)" + requests)).input_methods, methods);
  EXPECT_EQ(good(members(R"("method":"m","params":)" + requests)).input_methods, methods);
}

TEST(MessageScanner, FindsInputRequestsUnderAnEscapedKey) {
  const Message message =
      good(members(R"("id":1,"result":{"input\u0052equests":{"a":{"m\u0065thod":"x"}}})"));
  EXPECT_EQ(message.input_methods, std::vector<std::string>{"x"});
}

TEST(MessageScanner, DoesNotTakeInputRequestsOfAnotherShapeForNone) {
  for (const std::string value : {"null", "[]", "\"x\"", "7", "true", R"([{"method":"ping"}])"}) {
    const Message message = good(members(R"("id":1,"result":{"inputRequests":)" + value + "}"));
    EXPECT_EQ(message.input_methods, std::vector<std::string>{""}) << value;
  }
  EXPECT_TRUE(good(members(R"("id":1,"result":{"inputRequests":{}})")).input_methods.empty());
  EXPECT_TRUE(good(members(R"("id":1,"result":{"a":{"inputRequests":7}})")).input_methods.empty());
}

TEST(MessageScanner, BoundsInputRequests) {
  std::string requests = R"("k":0)";
  for (std::size_t i = 1; i < max_input_requests; ++i)
    requests += ",\"" + std::to_string(i) + "\":0";
  const auto with = [](const std::string& inside) {
    return members(R"("id":1,"result":{"inputRequests":{)" + inside + "}}");
  };
  EXPECT_EQ(good(with(requests)).input_methods.size(), max_input_requests);
  const Scanned more = scan(with(requests + R"(,"last":0)"));
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().fault, MessageFault::not_jsonrpc);
}

TEST(MessageScanner, FindsWhatAPersonIsAsked) {
  const auto questions = [](std::string_view rest) {
    const std::string line = members(rest);
    std::vector<std::string> found;
    for (const Span& span : good(line).questions) found.emplace_back(span.in(line));
    return found;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(questions(R"("id":1,"method":"elicitation\/create","params":{"message":"Why?"})"),
            Texts{R"("Why?")"});
  EXPECT_EQ(questions(R"("id":1,"method":"sampling/createMessage","params":{"message":"Why?"})"),
            Texts{});
  EXPECT_EQ(questions(R"("id":1,"method":"elicitation/create","params":{"message":7})"), Texts{});
  EXPECT_EQ(questions(R"("id":1,"result":{"inputRequests":{
              "a":{"params":{"message":"One?"},"method":"elicitation/create"},
              "b":{"method":"roots/list","params":{"message":"no"}},
              "c":{"method":"elicitation/create"},
              "d":{"method":"elicitation/create","params":{"message":"Two?","x":{"message":"no"}}}}})"),
            (Texts{R"("One?")", R"("Two?")"}));
}

TEST(MessageScanner, BoundsAListOfTools) {
  std::string tools = "0";
  for (std::size_t i = 1; i < max_listed_tools; ++i) tools += ",0";
  EXPECT_EQ(good(members(R"("id":1,"result":{"tools":[)" + tools + "]}")).tools.size(),
            max_listed_tools);
  const Scanned more = scan(members(R"("id":1,"result":{"tools":[)" + tools + ",0]}"));
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().fault, MessageFault::not_jsonrpc);
}

TEST(MessageScanner, LocatesWhatIsHandedOutSealed) {
  const std::string request = members(
      R"("id":1,"method":"x","params":{"cursor":"c\u0041","level":"debug","requestState": "s" ,)"
      R"("arguments":{"cursor":1,"taskId":2,"requestState":3}})");
  Message message = good(request);
  EXPECT_EQ(message.cursor.in(request), R"("c\u0041")");
  EXPECT_EQ(message.level.in(request), R"("debug")");
  EXPECT_EQ(message.request_state.in(request), R"("s")");
  EXPECT_TRUE(message.task_ids.empty());
  const std::string answer =
      members(R"("id":1,"result":{"nextCursor":null,"requestState":{"a":[1]}})");
  message = good(answer);
  EXPECT_EQ(message.next_cursor.in(answer), "null");
  EXPECT_EQ(message.request_state.in(answer), R"({"a":[1]})");
  EXPECT_TRUE(message.cursor.empty());
}

std::vector<std::string> task_ids(const std::string& line) {
  std::vector<std::string> found;
  for (const Span id : good(line).task_ids) found.emplace_back(id.in(line));
  return found;
}

TEST(MessageScanner, LocatesEveryPlaceThatNamesATask) {
  using testing::ElementsAre;
  constexpr std::string_view related =
      R"("_meta":{"io.modelcontextprotocol/related-task":{"taskId":"r","x":{"taskId":0}}})";
  EXPECT_THAT(task_ids(members(R"("id":1,"method":"tasks/get","params":{"taskId":"a",)" +
                               std::string{related} + "}")),
              ElementsAre(R"("a")", R"("r")"));
  EXPECT_THAT(task_ids(members(R"("id":1,"result":{"task":{"taskId":"a","ttl":1},)" +
                               std::string{related} + "}")),
              ElementsAre(R"("a")", R"("r")"));
  EXPECT_THAT(task_ids(members(R"("id":1,"result":{"resultType":"task","taskId":"a"})")),
              ElementsAre(R"("a")"));
  EXPECT_THAT(
      task_ids(members(R"("id":1,"result":{"tasks":[{"taskId":"a"},7,{"taskId": 8 },[{}]]})")),
      ElementsAre(R"("a")", "8"));
  EXPECT_THAT(
      task_ids(members(
          R"("id":1,"method":"subscriptions/listen","params":{"notifications":{"taskIds":["a","b"]}})")),
      ElementsAre(R"("a")", R"("b")"));
}

TEST(MessageScanner, BoundsTheTasksThatAreNamed) {
  std::string tasks = R"({"taskId":"a"})";
  for (std::size_t i = 1; i < max_task_ids; ++i) tasks += R"(,{"taskId":"a"})";
  good(members(R"("id":1,"result":{"tasks":[)" + tasks + "]}"));
  const Scanned scanned =
      scan(members(R"("id":1,"result":{"tasks":[)" + tasks + R"(,{"taskId":"a"}]})"));
  ASSERT_FALSE(scanned.has_value());
  EXPECT_EQ(scanned.error().fault, MessageFault::not_jsonrpc);
}

// Each call in flight keeps one.
TEST(MessageScanner, BoundsAProgressTokenAsItDoesAnId) {
  const auto with = [](std::size_t bytes) {
    const std::string token = '"' + std::string(bytes - 2, 'a') + '"';
    return std::vector{
        members(R"("id":1,"method":"m","params":{"_meta":{"progressToken":)" + token + "}}"),
        members(R"("method":"notifications/progress","params":{"progressToken":)" + token + "}")};
  };
  for (const std::string& line : with(max_id_length)) good(line);
  for (const std::string& line : with(max_id_length + 1)) {
    const Scanned scanned = scan(line);
    ASSERT_FALSE(scanned.has_value());
    EXPECT_EQ(scanned.error().fault, MessageFault::not_jsonrpc);
    EXPECT_EQ(scanned.error().detail, "progressToken has more than 1024 bytes");
  }
}

TEST(MessageScanner, NotesOnlyTheTypesItPromises) {
  const Message message = good(members(
      R"("method":"m","params":{"name":1,"uri":{},"capabilities":[],"_meta":["progressToken"]})"));
  EXPECT_TRUE(message.name.empty());
  EXPECT_EQ(message.name_text, "");
  EXPECT_TRUE(message.uri.empty());
  EXPECT_TRUE(message.capabilities.empty());
  EXPECT_TRUE(message.meta_progress_token.empty());
}

TEST(MessageScanner, ForgetsTheLineBefore) {
  good(members(R"("id":1,"method":"a","params":{"name":"n","_meta":{"progressToken":1}})"));
  const Message message = good(members(R"("method":"b")"));
  EXPECT_TRUE(message.id.empty());
  EXPECT_TRUE(message.params.empty());
  EXPECT_TRUE(message.meta_progress_token.empty());
  EXPECT_EQ(message.name_text, "");
}

struct Verdict {
  std::string line;
  MessageFault fault;
  std::string id = "";  // that the refusal tells
};

class RefusedLine : public testing::TestWithParam<Verdict> {};

TEST_P(RefusedLine, IsRefusedWhateverStandsBehindIt) {
  for (const char behind : tempting) {
    const Scanned scanned = scan(GetParam().line, behind);
    ASSERT_FALSE(scanned.has_value()) << GetParam().line << " then " << behind;
    EXPECT_EQ(scanned.error().fault, GetParam().fault) << GetParam().line << " then " << behind;
    EXPECT_EQ(scanned.error().id.in(GetParam().line), GetParam().id) << GetParam().line;
    EXPECT_LT(scanned.error().detail.size(), 200U);
  }
}

const Verdict envelope[] = {
    {"", MessageFault::empty_line},
    {" \t\r", MessageFault::empty_line},
    {"{\"jsonrpc\":\"2.0\",\r\"method\":\"m\"}", MessageFault::not_json},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\r\r", MessageFault::not_json},
    {"\r", MessageFault::empty_line},
    {"hello", MessageFault::not_json},
    {"[INFO] starting", MessageFault::not_json},
    {"\xef\xbb\xbf{}", MessageFault::not_json},
    {"[]", MessageFault::not_an_object},
    {R"([{"jsonrpc":"2.0","id":1,"method":"m"}])", MessageFault::not_an_object},
    {"null", MessageFault::not_an_object},
    {" 12 ", MessageFault::not_an_object},
    {R"("x")", MessageFault::not_an_object},
    {R"("x" "y")", MessageFault::not_json},
    {"1 2", MessageFault::not_json},
    {"{}", MessageFault::not_jsonrpc},
    {R"({"id":5})", MessageFault::not_jsonrpc, "5"},
    {R"({"jsonrpc":"1.0","id":5,"method":"m"})", MessageFault::not_jsonrpc, "5"},
    {R"({"jsonrpc":2.0,"id":5,"method":"m"})", MessageFault::not_jsonrpc, "5"},
    {R"({"id":"x","method":"m"})", MessageFault::not_jsonrpc, R"("x")"},
    {members(R"("id":5,"method":"m","extra":1)"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"method":"m","Params":{})"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"method":1)"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"method":null,"result":1)"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"method":"m","result":1)"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"result":1,"params":{})"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"result":1,"error":{"code":1,"message":""})"), MessageFault::not_jsonrpc,
     "5"},
    {members(R"("result":1)"), MessageFault::not_jsonrpc},
    {members(R"("id":5,"error":"bad")"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"error":{"code":"1","message":""})"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"error":{"code":1})"), MessageFault::not_jsonrpc, "5"},
    {members(R"("id":5,"method":"m","params":[])"), MessageFault::bad_params, "5"},
    {members(R"("id":5,"method":"m","params":null)"), MessageFault::bad_params, "5"},
    {members(R"("method":"m","params":1)"), MessageFault::bad_params},
};

const Verdict ids[] = {
    {members(R"("id":null,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":true,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":{},"method":"m")"), MessageFault::bad_id},
    {members(R"("id":[1],"method":"m")"), MessageFault::bad_id},
    {members(R"("id":1.0,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":1e2,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":-0,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":9007199254740992,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":-9007199254740992,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":99999999999999999999,"method":"m")"), MessageFault::bad_id},
    {members(R"("id":")" + std::string(1024, 'x') + R"(","method":"m")"), MessageFault::bad_id},
    {members(R"("id":null,"error":{"code":1,"message":""})"), MessageFault::bad_id},
};

const Verdict broken[] = {
    {"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", MessageFault::not_json},
    {"{", MessageFault::not_json},
    {"}", MessageFault::not_json},
    {"[", MessageFault::not_json},
    {"\"", MessageFault::not_json},
    {R"({"a")", MessageFault::not_json},
    {R"({"a":)", MessageFault::not_json},
    {R"({"a":})", MessageFault::not_json},
    {R"({"a":1)", MessageFault::not_json},
    {R"({"a":1,)", MessageFault::not_json},
    {R"({"a":1,})", MessageFault::not_json},
    {R"({,})", MessageFault::not_json},
    {R"({"a" 1})", MessageFault::not_json},
    {R"({"a":1 "b":2})", MessageFault::not_json},
    {R"({"a":1}})", MessageFault::not_json},
    {R"({"a":1} x)", MessageFault::not_json},
    {R"({"a":1}{"b":2})", MessageFault::not_json},
    {R"({"a":1},)", MessageFault::not_json},
    {R"({"a":[1})", MessageFault::not_json},
    {R"({"a":{"b":1})", MessageFault::not_json},
    {R"({"a":{"b":{"c":1}})", MessageFault::not_json},
    {R"({"a":[[1]})", MessageFault::not_json},
    {R"({a:1})", MessageFault::not_json},
    {R"({'a':1})", MessageFault::not_json},
    {R"({1:1})", MessageFault::not_json},
    {with_value("[1,]"), MessageFault::not_json},
    {with_value("[,1]"), MessageFault::not_json},
    {with_value("[1 2]"), MessageFault::not_json},
    {with_value(R"(["a":1])"), MessageFault::not_json},
    {with_value("[1:2]"), MessageFault::not_json},
    {with_value(R"(["a""b"])"), MessageFault::not_json},
    {with_value(R"("a"x)"), MessageFault::not_json},
    {with_value(R"(1"a")"), MessageFault::not_json},
    {with_value(R"(true"a")"), MessageFault::not_json},
    {with_value("truee"), MessageFault::not_json},
    {with_value("nul"), MessageFault::not_json},
    {with_value("True"), MessageFault::not_json},
    {with_value("NaN"), MessageFault::not_json},
    {with_value("Infinity"), MessageFault::not_json},
    {with_value("-Infinity"), MessageFault::not_json},
    {with_value("0x10"), MessageFault::not_json},
    {with_value("01"), MessageFault::not_json},
    {with_value("-01"), MessageFault::not_json},
    {with_value("+1"), MessageFault::not_json},
    {with_value("1."), MessageFault::not_json},
    {with_value(".5"), MessageFault::not_json},
    {with_value("1e"), MessageFault::not_json},
    {with_value("1e+"), MessageFault::not_json},
    {with_value("-"), MessageFault::not_json},
    {with_value("1e400"), MessageFault::not_json},
    {with_value("-1e400"), MessageFault::not_json},
    {with_value("1e-400"), MessageFault::not_json},
    {with_value(std::string(257, '7')), MessageFault::not_json},
    {with_value("1_000"), MessageFault::not_json},
    {with_value(std::string(20'000, '1')), MessageFault::not_json},
    {with_value("1 /* c */"), MessageFault::not_json},
    {with_value("\f1"), MessageFault::not_json},
    {with_value("1\v"), MessageFault::not_json},
    {with_value(std::string{"\0", 1}), MessageFault::not_json},
    {with_value("\xc2\xa0 1"), MessageFault::not_json},
};

const Verdict strings[] = {
    {with_value("\"a\tb\""), MessageFault::not_json},
    {with_value(std::string{"\"a\0b\"", 5}), MessageFault::not_json},
    {with_value("\"\x1b[0m\""), MessageFault::not_json},
    {with_value(R"("\x")"), MessageFault::not_json},
    {with_value(R"("\u12")"), MessageFault::not_json},
    {with_value(R"("\u12G4")"), MessageFault::not_json},
    {with_value(R"("\ud800")"), MessageFault::not_json},
    {with_value(R"("\udc00")"), MessageFault::not_json},
    {with_value(R"("\ud800\ud800")"), MessageFault::not_json},
    {with_value(R"("\ud800\u0041")"), MessageFault::not_json},
    {with_value(R"("\ud800x")"), MessageFault::not_json},
    {with_value(R"("\udc00\ud800")"), MessageFault::not_json},
    {with_value(R"("\uD83D\uDE00\uDE00")"), MessageFault::not_json},
    {with_value(R"({"\ud800":1})"), MessageFault::not_json},
    {with_value(R"({"a\udfff":1})"), MessageFault::not_json},
    {with_value("\"\x80\""), MessageFault::not_json},
    {with_value("\"\xc3\""), MessageFault::not_json},
    {with_value("\"\xc0\x80\""), MessageFault::not_json},
    {with_value("\"\xed\xa0\x80\""), MessageFault::not_json},
    {with_value("\"\xf4\x90\x80\x80\""), MessageFault::not_json},
    {with_value("\"\xff\""), MessageFault::not_json},
    {with_value("{\"\xff\":1}"), MessageFault::not_json},
};

const Verdict duplicates[] = {
    {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})", MessageFault::duplicate_key},
    {R"({"jsonrpc":"2.0","jsonrpc":"2.0","method":"m"})", MessageFault::duplicate_key},
    {R"({"jsonrpc":"2.0","id":1,"i\u0064":1,"method":"m"})", MessageFault::duplicate_key},
    {with_value(R"({"a":1,"b":2,"a":3})"), MessageFault::duplicate_key},
    {with_value(R"({"":1,"":3})"), MessageFault::duplicate_key},
    {with_value(R"([{"a":1},{"a\/":1,"a/":2}])"), MessageFault::duplicate_key},
    {with_value(R"({"\ud83d\ude00":1,"😀":2})"), MessageFault::duplicate_key},
    {with_value(R"({"\"":1,"\u0022":2})"), MessageFault::duplicate_key},
};

INSTANTIATE_TEST_SUITE_P(Envelope, RefusedLine, testing::ValuesIn(envelope));
INSTANTIATE_TEST_SUITE_P(Ids, RefusedLine, testing::ValuesIn(ids));
INSTANTIATE_TEST_SUITE_P(Broken, RefusedLine, testing::ValuesIn(broken));
INSTANTIATE_TEST_SUITE_P(Strings, RefusedLine, testing::ValuesIn(strings));
INSTANTIATE_TEST_SUITE_P(Duplicates, RefusedLine, testing::ValuesIn(duplicates));

TEST(MessageScanner, TakesEveryLegalId) {
  for (const std::string id : {"0", "-1", "9007199254740991", "-9007199254740991", R"("")",
                               R"("\u0000")", R"(" padded ")"}) {
    const std::string line = members("\"method\":\"m\",\"id\":" + id);
    EXPECT_EQ(good(line).id.in(line), id);
  }
  good(members(R"("id":")" + std::string(1022, 'x') + R"(","method":"m")"));
}

TEST(MessageScanner, TakesEveryLegalValue) {
  for (const std::string& value :
       std::initializer_list<std::string>{"0",
                                          "-0",
                                          "0.0",
                                          "1E+10",
                                          "1e308",
                                          "-2.5e-300",
                                          std::string(256, '7'),
                                          "123456789012345678901234567890",
                                          "\"\\u0000\"",
                                          R"("\ud83d\ude00")",
                                          R"("\uD83D\uDE00 \\ud800 \b\f\n\r\t\/\"")",
                                          "\"\x7f\xc2\x85\"",
                                          "\"\xf4\x8f\xbf\xbf\"",
                                          "[]",
                                          "{}",
                                          "[[],{}]",
                                          "[ ]",
                                          R"({ "a" : [ ] , "b" : { } })",
                                          R"("a:b,c{d}e[f]")",
                                          R"("\\")",
                                          R"("\\\"")"}) {
    for (const char behind : tempting) {
      EXPECT_TRUE(scan(with_value(value), behind).has_value()) << value << " then " << behind;
    }
  }
}

TEST(MessageScanner, IgnoresOneCarriageReturnAtTheEnd) {
  const Message message = good(members(R"("method":"m")") + "\r");
  EXPECT_EQ(message.method, "m");
}

TEST(MessageScanner, SaysWhatNobodyCanSee) {
  MessageScanner scanner;
  const auto detail = [&scanner](std::string line) {
    const std::size_t size = line.size();
    line.resize(size + MessageScanner::padding);
    const auto scanned = scanner.scan(std::string_view(line).substr(0, size));
    return scanned ? std::string("accepted") : scanned.error().detail;
  };
  EXPECT_EQ(detail("\xef\xbb\xbf{}"), "a byte order mark");
  EXPECT_EQ(detail("{\r}"), "a carriage return inside the line");
  EXPECT_TRUE(detail("{\"a\":\"\xff\"}").starts_with("byte ")) << detail("{\"a\":\"\xff\"}");
}

TEST(MessageScanner, AllowsTheSameKeyInDifferentObjects) {
  good(with_value(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]})"));
}

std::string nested(std::size_t levels, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < levels; ++i) text += open;
  text += "1";
  for (std::size_t i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(MessageScanner, BoundsTheDepth) {
  // with_value is two levels itself.
  for (const auto& [open, close] : {std::pair{"[", "]"}, std::pair{R"({"a":)", "}"}}) {
    good(with_value(nested(max_message_depth - 2, open, close)));
    for (const std::size_t levels : {max_message_depth - 1UL, 5000UL, 500'000UL}) {
      const Scanned scanned = scan(with_value(nested(levels, open, close)));
      ASSERT_FALSE(scanned.has_value());
      EXPECT_EQ(scanned.error().fault, MessageFault::too_deep);
    }
  }
}

TEST(MessageScanner, FindsADuplicateAmongManyKeys) {
  std::string keys = R"("k0":0)";
  for (int i = 1; i < 20'000; ++i) {
    keys += ",\"k" + std::to_string(i) + "\":" + std::to_string(i);
  }
  good(with_value("{" + keys + "}"));
  const Scanned scanned = scan(with_value("{" + keys + R"(,"k777":0})"));
  ASSERT_FALSE(scanned.has_value());
  EXPECT_EQ(scanned.error().fault, MessageFault::duplicate_key);
}

TEST(MessageScanner, RefusesEveryBeginningOfAMessage) {
  const std::string line = members(
      R"("id":"a\u0041","method":"tools/call","params":{"name":"x","arguments":{"a":[1,true,{}]}})");
  good(line);
  for (std::size_t length = 1; length < line.size(); ++length) {
    for (const char behind : tempting) {
      EXPECT_FALSE(scan(line.substr(0, length), behind).has_value()) << line.substr(0, length);
    }
  }
}

TEST(MessageScanner, WorksOnAfterALargeLine) {
  const std::string large(8U << 20, 'x');
  const std::string line = with_value("\"" + large + "\"");
  EXPECT_EQ(good(line).result.in(line).size(), large.size() + 8);
  EXPECT_EQ(good(members(R"("method":"m")")).method, "m");
}

TEST(MessageFault, HasASentenceAndACodeForEach) {
  EXPECT_EQ(error_code_of(MessageFault::not_json), -32700);
  for (const auto fault :
       {MessageFault::too_deep, MessageFault::duplicate_key, MessageFault::not_an_object,
        MessageFault::not_jsonrpc, MessageFault::bad_id, MessageFault::bad_params}) {
    EXPECT_EQ(error_code_of(fault), -32600);
    EXPECT_FALSE(explain(fault).empty());
  }
}

}  // namespace
}  // namespace cellblock
