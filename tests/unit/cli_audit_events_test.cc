#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "client/cli/audit/event_form.h"
#include "client/cli/audit/event_kind.h"
#include "client/cli/audit/line_text.h"
#include "policy/base/printable.h"

namespace cellblock::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::Not;

const EventOrigin origin{"build-3", "0.1.0"};

json audit_line(const std::string& kind, const std::string& outcome) {
  json line = json::parse(
      R"({"seq":4,"time":"2026-11-22T13:05:07.123Z","boot":"b","uid":1000,"gateway":"aa","n":3,)"
      R"("pid":77,"server":"files","session":3,"cell":2,"call":9,"tool":"write",)"
      R"("reason":"allow.tools","bytes":12,"us":1500,"count":1,"hash":"00ff"})");
  line["kind"] = kind;
  line["outcome"] = outcome;
  return line;
}

std::vector<json> every_line() {
  std::vector<json> lines;
  for (const std::string_view kind : audit_kinds) {
    for (const char* outcome : {"none", "ok", "error", "denied", "cancelled"}) {
      lines.push_back(audit_line(std::string(kind), outcome));
    }
  }
  return lines;
}

json ecs(const json& line) { return json::parse(ecs_event(line, origin)); }
json ocsf(const json& line) { return json::parse(ocsf_event(line, origin)); }

// event.category with its expected event.type: ECS 8.11, "Categorization fields".
const std::map<std::string, std::set<std::string>> expected_types{
    {"api",
     {"access", "admin", "allowed", "change", "creation", "deletion", "denied", "end", "info",
      "start", "user"}},
    {"configuration", {"access", "change", "creation", "deletion", "info"}},
    {"intrusion_detection", {"allowed", "denied", "info"}},
    {"network", {"access", "allowed", "connection", "denied", "end", "info", "protocol", "start"}},
    {"process", {"access", "change", "end", "info", "start"}},
    {"session", {"start", "end", "info"}},
};

TEST(EcsEvent, HasForEveryKindACategoryAndTypesThatTheSchemaExpectsOfIt) {
  for (const json& line : every_line()) {
    const json event = ecs(line);
    const auto& described = event.at("event");
    const auto found = expected_types.find(described.at("category").at(0).get<std::string>());
    ASSERT_NE(found, expected_types.end()) << event;
    EXPECT_THAT(described.at("type").get<std::vector<std::string>>(), IsSubsetOf(found->second));
    EXPECT_THAT((std::set<std::string>{"success", "failure", "unknown"}),
                testing::Contains(described.at("outcome")));
    EXPECT_EQ(event.at("@timestamp"), "2026-11-22T13:05:07.123Z");
    EXPECT_EQ(event.at("ecs").at("version"), "8.11.0");
  }
}

TEST(EcsEvent, KeepsTheWholeLineBelowCellblock) {
  const json line = audit_line("call", "none");
  EXPECT_EQ(ecs(line).at("cellblock"), line);
}

TEST(EcsEvent, SaysWhoDidWhatToWhichServerAndForHowLong) {
  const json event = ecs(audit_line("call_ended", "error"));
  EXPECT_EQ(event.at("user").at("id"), "1000");
  EXPECT_EQ(event.at("process").at("pid"), 77);
  EXPECT_EQ(event.at("service").at("name"), "files");
  EXPECT_EQ(event.at("event").at("duration"), 1'500'000);
  EXPECT_EQ(event.at("event").at("outcome"), "failure");
}

TEST(EcsEvent, SplitsTheTargetOfAConnection) {
  json line = audit_line("egress", "ok");
  line["tool"] = "[2001:db8::1]:443";
  const json event = ecs(line);
  EXPECT_EQ(event.at("destination").at("address"), "2001:db8::1");
  EXPECT_EQ(event.at("destination").at("port"), 443);
  line["tool"] = "api.example.com";
  EXPECT_FALSE(ecs(line).at("destination").contains("port"));
}

TEST(EcsEvent, HasTheTraceOfTheHost) {
  json line = audit_line("call", "none");
  line["traceparent"] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  EXPECT_EQ(ecs(line).at("trace").at("id"), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(ecs(line).at("span").at("id"), "b7ad6b7169203331");
}

// What each class requires besides the attributes of every event: OCSF 1.2.0,
// https://schema.ocsf.io/1.2.0/classes.
const std::map<int, std::vector<std::string>> required_attributes{
    {1003, {"actor", "device", "kernel"}},
    {1007, {"actor", "device", "process"}},
    {2004, {"finding_info"}},
    {3002, {"user", "service"}},
    {4001, {"src_endpoint", "dst_endpoint"}},
    {6002, {"app"}},
    {6003, {"actor", "api", "src_endpoint"}},
};

TEST(OcsfEvent, HasForEveryKindWhatItsClassRequires) {
  for (const json& line : every_line()) {
    const json event = ocsf(line);
    const int number = event.at("class_uid");
    const auto found = required_attributes.find(number);
    ASSERT_NE(found, required_attributes.end()) << event;
    for (const std::string& attribute : found->second) {
      EXPECT_TRUE(event.contains(attribute)) << attribute << " of " << event;
    }
    EXPECT_EQ(event.at("category_uid"), number / 1000);
    EXPECT_EQ(event.at("type_uid"), number * 100 + event.at("activity_id").get<int>());
    EXPECT_EQ(event.at("metadata").at("version"), "1.2.0");
    EXPECT_TRUE(event.at("metadata").at("product").contains("vendor_name"));
    EXPECT_EQ(event.at("time"), 1'795'352'707'123);
    EXPECT_GE(event.at("severity_id"), 1);
  }
}

TEST(OcsfEvent, SaysThatAConnectionWasRefused) {
  EXPECT_EQ(ocsf(audit_line("egress", "ok")).at("activity_id"), 6);
  EXPECT_EQ(ocsf(audit_line("egress", "denied")).at("activity_id"), 5);
}

TEST(OcsfEvent, NamesTheMethodOfACallAndTakesOnlyResourcesAndPromptsForReading) {
  json line = audit_line("call", "none");
  EXPECT_EQ(ocsf(line).at("api").at("operation"), "tools/call");
  EXPECT_EQ(ocsf(line).at("activity_id"), 99);
  line["method"] = "resources/read";
  EXPECT_EQ(ocsf(line).at("api").at("operation"), "resources/read");
  EXPECT_EQ(ocsf(line).at("activity_id"), 2);
}

TEST(CefEvent, IsOneLineOfSevenHeaderFieldsAndAnExtension) {
  for (const json& line : every_line()) {
    const std::string event = cef_event(line, origin);
    EXPECT_EQ(std::ranges::count(event, '|'), 7) << event;
    EXPECT_THAT(event, AllOf(testing::StartsWith("CEF:0|cellblock|cellblock|0.1.0|"),
                             HasSubstr("rt=1795352707123"), HasSubstr("suid=1000")));
  }
}

TEST(CefEvent, LetsNoServerOrHostAddAFieldOrALine) {
  json line = audit_line("call", "none");
  line["tool"] = "a suid=0\n\rb\\|c";
  line["kind"] = "call|7|CEF:0";
  const std::string event = cef_event(line, origin);
  EXPECT_THAT(event, HasSubstr(R"(request=a suid\=0\n\rb\\|c)"));
  EXPECT_THAT(event, HasSubstr(R"(|call\|7\|CEF:0|)"));
  EXPECT_THAT(event, Not(HasSubstr("\n")));
}

TEST(EventForms, HoldNoByteThatATerminalOrACollectorWouldObey) {
  json line = audit_line("call", "none");
  line["tool"] = "a\x1b[2J\x07\x7f\x0b\u0085\u2028\u202eb";
  line["kind"] = "call\x1b[1m\n";
  for (const auto form : {ecs_event, ocsf_event, cef_event}) {
    const std::string event = form(line, origin);
    EXPECT_EQ(printable(event, event.size()), event);
  }
  EXPECT_THAT(cef_event(line, origin),
              HasSubstr(R"(request=a\\x1b[2J\\x07\\x7f\\x0b\\u{85}\\u{2028}\\u{202e}b)"));
}

TEST(EventForms, AreFoundByTheirNamesAlone) {
  for (const std::string& name : event_form_names()) EXPECT_NE(event_form(name), nullptr) << name;
  EXPECT_EQ(event_form("leef"), nullptr);
  EXPECT_EQ(event_form(""), nullptr);
}

TEST(EventForms, TakeALineThatHasNoneOfTheFields) {
  for (const auto form : {ecs_event, ocsf_event, cef_event}) {
    EXPECT_FALSE(form(json::object(), origin).empty());
    EXPECT_FALSE(form({{"kind", 7}, {"tool", {1}}, {"seq", "x"}, {"uid", -1}}, origin).empty());
  }
}

}  // namespace
}  // namespace cellblock::cli
