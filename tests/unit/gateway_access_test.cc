#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "supervisor/gateway/route/server_route.h"
#include "supervisor/gateway/upstream/upstream.h"

/// Rules where calls and lists pass: what a person may not use does not exist for that person.
namespace cellblock::gateway {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Recorder final : public UpstreamEffects {
 public:
  void to_host(Slices message) override { keep(message, host); }
  void to_cell(Slices message) override { keep(message, cell); }
  void record(const AuditNote& note) override {
    notes.push_back(std::string(note.tool) + " " + std::string(note.reason));
  }
  AuditState audit_state() const override { return AuditState::writable; }
  void when_recorded(WhenRecorded then) override { then(AuditState::writable, Time{}); }
  void wake_in(Milliseconds) override {}

  std::vector<std::string> host;
  std::vector<std::string> cell;
  std::vector<std::string> notes;

 private:
  static void keep(Slices message, std::vector<std::string>& lines) {
    std::string text;
    for (const std::string_view slice : message) text += slice;
    text.pop_back();
    lines.push_back(text);
  }
};

Sealer::Fill counting() {
  return [next = 1U](std::span<std::byte> bytes) mutable {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(next++ * 167U >> 3U);
  };
}

Rule rule(Effect effect) { return {.name = "rule[1]", .effect = effect, .binds_everybody = true}; }

// Everything but: the tool "hidden" and what begins so, resources outside /w, the prompt "secret".
Server guarded_server() {
  Server server;
  server.name = "files";
  server.client_features = {.roots = true, .sampling = true, .elicitation = true};
  Rule given = rule(Effect::allow);
  given.tools = given.prompts = {{"", true}};
  given.resources = {{"file:///w/", true}};
  given.features = {{"roots", false}, {"sampling", false}};
  Rule taken = rule(Effect::deny);
  taken.name = "rule[2]";
  taken.tools = {{"hidden", true}};
  taken.prompts = {{"secret", false}};
  taken.features = {{"sampling", false}};
  Rule asked = rule(Effect::ask);
  asked.name = "rule[3]";
  asked.approver = Approver::user;
  asked.tools = {{"push", false}};
  asked.prompts = {{"release", false}};
  Rule narrow = rule(Effect::deny);
  narrow.name = "rule[4]";
  narrow.tools = {{"write", false}};
  narrow.arguments = {{.argument = "force",
                       .kind = ConditionKind::one_of,
                       .one_of = {{.kind = ScalarKind::boolean, .boolean = true}}}};
  server.rules = {given, taken, asked, narrow};
  return server;
}

class AccessTest : public testing::Test {
 protected:
  std::string answer_to(const std::string& method, json params, bool modern = false) {
    if (modern) {
      params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                         {"io.modelcontextprotocol/clientInfo", {{"name", "x"}, {"version", "1"}}},
                         {"io.modelcontextprotocol/clientCapabilities", json::object()}};
    }
    effects_.host.clear();
    effects_.cell.clear();
    hand({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", params}}, true);
    return effects_.host.empty() ? "" : effects_.host.back();
  }
  /// The list as the host gets it.
  json listed(const std::string& method, const json& result) {
    answer_to(method, json::object());
    const json asked = json::parse(effects_.cell.back());
    hand({{"jsonrpc", "2.0"}, {"id", asked["id"]}, {"result", result}}, false);
    return json::parse(effects_.host.back())["result"];
  }
  bool reached() const { return !effects_.cell.empty(); }

  void hand(const json& message, bool from_host) {
    std::string line = message.dump();
    const std::size_t size = line.size();
    line.append(MessageScanner::padding, '\0');
    const auto parsed = scanner_.scan(std::string_view(line).substr(0, size));
    ASSERT_TRUE(parsed.has_value()) << line;
    const std::string with_newline = line.substr(0, size) + "\n";
    const auto text = std::string_view(with_newline).substr(0, size + 1);
    from_host ? upstream_.from_host(text, *parsed, now_) : upstream_.from_cell(text, *parsed, now_);
  }

  Server server_ = guarded_server();
  Config config_{.servers = {server_}};
  UserPolicy policy_{config_};
  Rights rights_{server_.rules, Subject{}};
  Recorder effects_;
  UpstreamIds ids_{counting()};
  Sealer sealer_{counting()};
  Upstream upstream_{{.server = server_, .policy = policy_},
                     rights_,
                     ids_,
                     OpaqueTokens(sealer_, {}),
                     AuditArguments::digest,
                     effects_};
  MessageScanner scanner_;
  Time now_{1h};
  int last_id_ = 0;
};

// The rest of an answer to what does not exist, with its name taken out.
std::string shape_of(std::string answer, const std::string& name) {
  for (std::size_t at = answer.find(name); at != std::string::npos; at = answer.find(name)) {
    answer.replace(at, name.size(), "NAME");
  }
  return answer;
}

TEST_F(AccessTest, HiddenToolsAreAnsweredAsUnknownOnesAre) {
  for (const char* name : {"hidden", "hidden_no_such", "hidden\n"}) {
    const std::string answer = answer_to("tools/call", {{"name", name}, {"arguments", {}}});
    EXPECT_EQ(json::parse(answer)["error"]["message"], std::string("Unknown tool: ") + name);
    EXPECT_FALSE(reached()) << name;
  }
  EXPECT_THAT(effects_.notes, testing::Contains("hidden rule[2]"));
  answer_to("tools/call", {{"name", "read"}, {"arguments", {}}});
  EXPECT_TRUE(reached());
}

TEST_F(AccessTest, HiddenPromptsResourcesAndReferencesAreAnsweredAsUnknownOnesAre) {
  struct Row {
    const char* method;
    json params;
    const char* said;
  };
  const std::vector<Row> rows = {
      {"prompts/get", {{"name", "secret"}}, "Unknown prompt: secret"},
      {"resources/read", {{"uri", "file:///etc/a"}}, "Resource not found"},
      {"resources/subscribe", {{"uri", "file:///etc/a"}}, "Resource not found"},
      {"resources/unsubscribe", {{"uri", "file:///etc/a"}}, "Resource not found"},
      {"resources/read", {{"uri", "file:///w/../etc/a"}}, "Resource not found"},
      {"resources/read", json::object(), "Resource not found"},
      {"completion/complete",
       {{"ref", {{"type", "ref/prompt"}, {"name", "secret"}}},
        {"argument", {{"name", "a"}, {"value", ""}}}},
       "Unknown reference: secret"},
      {"completion/complete",
       {{"ref", {{"type", "ref/resource"}, {"uri", "file:///etc/{p}"}}},
        {"argument", {{"name", "p"}, {"value", ""}}}},
       "Unknown reference: file:///etc/{p}"},
  };
  for (const Row& row : rows) {
    const json error = json::parse(answer_to(row.method, row.params))["error"];
    EXPECT_EQ(error["message"], row.said) << row.method;
    EXPECT_FALSE(reached()) << row.method;
  }
  EXPECT_EQ(json::parse(answer_to("resources/read", {{"uri", "x:y"}}))["error"]["code"], -32002);
  EXPECT_EQ(json::parse(answer_to("resources/read", {{"uri", "x:y"}}, true))["error"]["code"],
            -32602);
}

TEST_F(AccessTest, WhatExistsAndWhatDoesNotHaveTheSameAnswer) {
  const auto shape = [&](const char* method, const char* key, const char* name) {
    last_id_ = 0;
    return shape_of(answer_to(method, {{key, name}}), name);
  };
  EXPECT_EQ(shape("tools/call", "name", "hidden"), shape("tools/call", "name", "hidden_none"));
  EXPECT_EQ(shape("resources/read", "uri", "file:///etc/a"),
            shape("resources/read", "uri", "no:such"));
}

TEST_F(AccessTest, NoSpellingOfAResourceReachesWhatRulesDoNotGive) {
  for (const bool modern : {false, true}) {
    for (const char* uri : {"file:///w/../etc/a", "file:///w/%2e%2e/etc/a", "file:///w/..%2Fetc/a",
                            "file:///w/..\\etc", "file:///w/%252e%252e/etc/a", "/w/a"}) {
      for (const char* method :
           {"resources/read", "resources/subscribe", "resources/unsubscribe"}) {
        if (modern && std::string_view(method) != "resources/read") continue;
        EXPECT_THAT(answer_to(method, {{"uri", uri}}, modern), HasSubstr("Resource not found"));
        EXPECT_FALSE(reached()) << method << " " << uri;
      }
      const json stream{{"notifications", {{"resourceSubscriptions", {"file:///w/a", uri}}}}};
      if (modern) answer_to("subscriptions/listen", stream, true);
      EXPECT_FALSE(reached()) << uri;
      const json ref{{"type", "ref/resource"}, {"uri", std::string(uri) + "/{p}"}};
      answer_to("completion/complete", {{"ref", ref}, {"argument", {{"name", "p"}, {"value", ""}}}},
                modern);
      EXPECT_FALSE(reached()) << "completion of " << uri;
    }
  }
}

TEST_F(AccessTest, WhatIsGivenPasses) {
  for (const auto& [method, params] : std::vector<std::pair<std::string, json>>{
           {"prompts/get", {{"name", "review"}}},
           {"resources/read", {{"uri", "file:///w/a"}}},
           {"resources/read", {{"uri", "file:///w/./%61"}}},
           {"tools/call", {{"name", "write"}, {"arguments", {{"force", false}}}}},
           {"completion/complete", {{"ref", {{"type", "ref/resource"}, {"uri", "file:///{p}"}}}}},
           {"tasks/get", {{"taskId", "none"}}},
           {"ping", json::object()}}) {
    answer_to(method, params);
    if (method == "tasks/get") continue;  // nobody was handed that value
    EXPECT_TRUE(reached()) << method;
  }
}

TEST_F(AccessTest, ArgumentsAreRefusedWithAReasonThatAModelSees) {
  const json answer =
      json::parse(answer_to("tools/call", {{"name", "write"}, {"arguments", {{"force", true}}}}));
  EXPECT_FALSE(reached());
  EXPECT_EQ(answer["result"]["isError"], true);
  EXPECT_EQ(answer["result"]["_meta"]["cellblock/error"]["code"], "denied");
  EXPECT_THAT(answer["result"]["content"][0]["text"].get<std::string>(),
              HasSubstr("rule[4] denies it with these arguments"));
}

TEST_F(AccessTest, WhatTheUserIsAskedAboutIsRefusedWhereHisHostCannotAsk) {
  const json call = json::parse(answer_to("tools/call", {{"name", "push"}}));
  EXPECT_EQ(call["result"]["_meta"]["cellblock/error"]["code"], "approval_required");
  const json prompt = json::parse(answer_to("prompts/get", {{"name", "release"}}));
  EXPECT_EQ(prompt["error"]["data"]["code"], "approval_required");
  EXPECT_FALSE(reached());
}

TEST_F(AccessTest, MethodsThatMcpDoesNotHaveAreRefused) {
  for (const char* method : {"tools/Call", "tools/call ", "x", "sampling/createMessage",
                             "roots/list", "files/delete", "notifications/x"}) {
    EXPECT_EQ(json::parse(answer_to(method, json::object()))["error"]["code"], -32601) << method;
    EXPECT_FALSE(reached()) << method;
  }
  EXPECT_THAT(effects_.notes, testing::Contains("files/delete unknown_method"));
}

TEST_F(AccessTest, ListsHaveOnlyWhatExists) {
  const auto names = [](const json& list, const char* key) {
    std::vector<std::string> all;
    for (const json& item : list) all.push_back(item[key]);
    return all;
  };
  const json schema{{"type", "object"}};
  EXPECT_THAT(
      names(listed("tools/list", {{"tools",
                                   {{{"name", "read"}, {"inputSchema", schema}},
                                    {{"name", "hidden"}, {"inputSchema", schema}},
                                    {{"name", "push"}, {"inputSchema", schema}}}}})["tools"],
            "name"),
      ElementsAre("read", "push"));
  EXPECT_THAT(
      names(listed("resources/list", {{"resources",
                                       {{{"uri", "file:///etc/a"}, {"name", "a"}},
                                        {{"uri", "file:///w/b"}, {"name", "b"}}}}})["resources"],
            "uri"),
      ElementsAre("file:///w/b"));
  EXPECT_THAT(
      names(listed("resources/templates/list",
                   {{"resourceTemplates",
                     {{{"uriTemplate", "file:///etc/{p}"}, {"name", "a"}},
                      {{"uriTemplate", "file:///{p}"}, {"name", "b"}}}}})["resourceTemplates"],
            "uriTemplate"),
      ElementsAre("file:///{p}"));
  EXPECT_THAT(names(listed("prompts/list",
                           {{"prompts", {{{"name", "secret"}}, {{"name", "review"}}}}})["prompts"],
                    "name"),
              ElementsAre("review"));
}

TEST_F(AccessTest, ListsOutOfTheCatalogueHaveTheSame) {
  Catalogue catalogue;
  catalogue.lists = {R"([{"name":"read"},{"name":"hidden"}])", R"([{"uri":"file:///etc/a"}])",
                     R"([{"uriTemplate":"file:///{p}"}])", R"([{"name":"secret"}])"};
  const auto cached = [&](const char* method) {
    std::string line =
        json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", json::object()}}.dump();
    const std::size_t size = line.size();
    line.append(MessageScanner::padding, '\0');
    const auto view = std::string_view(line).substr(0, size);
    const auto message = scanner_.scan(view);
    return json::parse(*cached_list(view, *message, catalogue, server_, rights_))["result"];
  };
  EXPECT_EQ(cached("tools/list")["tools"], json::parse(R"([{"name":"read"}])"));
  EXPECT_EQ(cached("resources/list")["resources"], json::array());
  EXPECT_EQ(cached("resources/templates/list")["resourceTemplates"].size(), 1U);
  EXPECT_EQ(cached("prompts/list")["prompts"], json::array());
}

TEST_F(AccessTest, NewsOfHiddenResourcesIsDropped) {
  for (const char* uri : {"file:///etc/a", "file:///w/../etc/a", "file:///w/a"}) {
    hand({{"jsonrpc", "2.0"},
          {"method", "notifications/resources/updated"},
          {"params", {{"uri", uri}}}},
         false);
  }
  ASSERT_EQ(effects_.host.size(), 1U);
  EXPECT_THAT(effects_.host[0], HasSubstr("file:///w/a"));
}

TEST_F(AccessTest, AStreamOfAHiddenResourceIsRefused) {
  const json params{{"notifications", {{"resourceSubscriptions", {"file:///w/a", "file:///x"}}}}};
  EXPECT_THAT(answer_to("subscriptions/listen", params, true), HasSubstr("Resource not found"));
  EXPECT_FALSE(reached());
}

TEST_F(AccessTest, AServerAsksOnlyWhatTheRulesGive) {
  struct Row {
    const char* method;
    bool passes;
    const char* why;
  };
  for (const Row& row :
       {Row{"roots/list", true, "given"}, Row{"sampling/createMessage", false, "given, and denied"},
        Row{"elicitation/create", false, "declared, and given by no rule"}}) {
    effects_.host.clear();
    effects_.cell.clear();
    hand({{"jsonrpc", "2.0"},
          {"id", row.method},
          {"method", row.method},
          {"params", json::object()}},
         false);
    EXPECT_EQ(!effects_.host.empty(), row.passes) << row.why;
    EXPECT_EQ(reached(), !row.passes) << row.why;
  }
}

TEST_F(AccessTest, AServerHearsOfNoCapabilityThatItMayNotUse) {
  answer_to(
      "initialize",
      {{"protocolVersion", "2025-06-18"},
       {"capabilities",
        {{"roots", json::object()}, {"sampling", json::object()}, {"elicitation", json::object()}}},
       {"clientInfo", {{"name", "x"}, {"version", "1"}}}});
  EXPECT_EQ(json::parse(effects_.cell.back())["params"]["capabilities"],
            json::parse(R"({"roots":{}})"));
}

}  // namespace
}  // namespace cellblock::gateway
