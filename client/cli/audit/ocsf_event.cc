#include <utility>

#include "client/cli/audit/event_form.h"
#include "client/cli/audit/event_kind.h"

namespace cellblock::cli {
namespace {

using OcsfJson = nlohmann::ordered_json;
using enum OcsfClass;

enum class OcsfStatus : std::uint8_t { unknown = 0, success = 1, failure = 2 };

OcsfStatus ocsf_status(const nlohmann::json& line) {
  const std::string outcome = event_text(line, "outcome");
  if (outcome == "ok") return OcsfStatus::success;
  return outcome == "error" || outcome == "denied" ? OcsfStatus::failure : OcsfStatus::unknown;
}

// What was found in a message is of medium severity, what was refused of low.
int ocsf_severity(const EventKind& kind, const nlohmann::json& line) {
  if (kind.kind == "finding") return 3;
  return event_allowed(line) == false ? 2 : 1;
}

int ocsf_activity(const EventKind& kind, const nlohmann::json& line) {
  constexpr int refused_connection = 5;
  constexpr int read = 2;
  if (kind.ocsf_class == network_activity && event_allowed(line) == false)
    return refused_connection;
  const bool is_call = kind.kind == "call" || kind.kind == "call_ended";
  // resources/read, prompts/get: what a tool does nobody knows.
  if (is_call && !event_text(line, "method").empty()) return read;
  return kind.ocsf_activity;
}

OcsfJson ocsf_actor(const nlohmann::json& line) {
  OcsfJson actor;
  if (line.contains("uid")) actor["user"] = {{"uid", std::to_string(event_number(line, "uid"))}};
  if (const auto pid = event_number(line, "pid"); pid > 0) actor["process"] = {{"pid", pid}};
  if (actor.empty()) actor["app_name"] = "cellblock";
  return actor;
}

OcsfJson ocsf_device(const EventOrigin& origin) {
  return {{"hostname", origin.host}, {"type_id", 0}};
}

OcsfJson ocsf_api(const nlohmann::json& line) {
  const std::string method = event_text(line, "method");
  const std::string tool = event_text(line, "tool");
  const bool is_call = event_text(line, "kind").starts_with("call");
  OcsfJson api{{"operation", !method.empty() ? method
                             : is_call       ? "tools/call"
                                             : event_text(line, "kind")}};
  if (const auto server = event_text(line, "server"); !server.empty()) {
    api["service"] = {{"name", server}};
  }
  if (!tool.empty()) api["request"] = {{"uid", tool}};
  return api;
}

OcsfJson ocsf_finding(const nlohmann::json& line) {
  return {{"uid", std::to_string(event_number(line, "seq"))},
          {"title", event_text(line, "reason")},
          {"types", OcsfJson::array({event_text(line, "reason")})}};
}

OcsfJson ocsf_destination(const nlohmann::json& line) {
  const EventTarget target = event_target(line);
  OcsfJson destination{{"hostname", target.host}};
  if (target.port) destination["port"] = *target.port;
  return destination;
}

void add_class_fields(OcsfJson& event, OcsfClass of, const nlohmann::json& line,
                      const EventOrigin& origin) {
  switch (of) {
    case kernel_activity:
      event["kernel"] = {{"name", event_text(line, "tool")}, {"type_id", 2}};
      break;
    case process_activity:
      event["process"] = {{"uid", std::to_string(event_number(line, "cell"))},
                          {"name", event_text(line, "server")}};
      break;
    case detection_finding:
      event["finding_info"] = ocsf_finding(line);
      return;
    case authentication:
      event["user"] = {{"uid", std::to_string(event_number(line, "uid"))}};
      event["service"] = {{"name", "cellblock"}};
      return;
    case network_activity:
      event["src_endpoint"] = {{"hostname", origin.host}};
      event["dst_endpoint"] = ocsf_destination(line);
      event["traffic"] = {{"bytes", event_number(line, "bytes")}};
      return;
    case application_lifecycle:
      event["app"] = {{"name", "cellblock-audit"}, {"vendor_name", "cellblock"}};
      return;
    case api_activity:
      event["api"] = ocsf_api(line);
      event["actor"] = ocsf_actor(line);
      event["src_endpoint"] = {{"hostname", origin.host}};
      return;
  }
  event["actor"] = ocsf_actor(line);
  event["device"] = ocsf_device(origin);
}

OcsfJson ocsf_metadata(const nlohmann::json& line, const EventOrigin& origin) {
  OcsfJson metadata{
      {"version", "1.2.0"},
      {"product",
       {{"name", "cellblock"}, {"vendor_name", "cellblock"}, {"version", origin.version}}},
      {"log_name", "audit"},
      {"sequence", event_number(line, "seq")},
      {"uid", event_text(line, "hash")}};
  if (const auto trace = event_trace(line); !trace.trace.empty()) {
    metadata["correlation_uid"] = trace.trace;
  }
  return metadata;
}

}  // namespace

std::string ocsf_event(const nlohmann::json& line, const EventOrigin& origin) {
  const EventKind& kind = event_kind(event_text(line, "kind"));
  const int class_number = std::to_underlying(kind.ocsf_class);
  const int activity = ocsf_activity(kind, line);
  constexpr int classes_of_category = 1000;
  constexpr int activities_of_class = 100;
  OcsfJson event{{"time", event_time(line)},
                 {"category_uid", class_number / classes_of_category},
                 {"class_uid", class_number},
                 {"activity_id", activity},
                 {"type_uid", class_number * activities_of_class + activity},
                 {"severity_id", ocsf_severity(kind, line)},
                 {"metadata", ocsf_metadata(line, origin)}};
  if (activity == ocsf_other) event["activity_name"] = event_text(line, "kind");
  event["status_id"] = std::to_underlying(ocsf_status(line));
  if (const auto reason = event_text(line, "reason"); !reason.empty()) {
    event["status_detail"] = reason;
  }
  if (const auto count = event_number(line, "count"); count > 1) event["count"] = count;
  add_class_fields(event, kind.ocsf_class, line, origin);
  event["unmapped"] = line;
  return event.dump(-1, ' ', true, OcsfJson::error_handler_t::replace);
}

}  // namespace cellblock::cli
