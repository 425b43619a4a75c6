#include "client/cli/audit/event_form.h"
#include "client/cli/audit/event_kind.h"

namespace cellblock::cli {
namespace {

using EcsJson = nlohmann::ordered_json;

std::string_view ecs_outcome(const nlohmann::json& line) {
  const std::string outcome = event_text(line, "outcome");
  if (outcome == "ok") return "success";
  return outcome == "error" || outcome == "denied" ? "failure" : "unknown";
}

// Of these categories the schema expects the two words.
EcsJson ecs_types(const EventKind& kind, const nlohmann::json& line) {
  EcsJson types{kind.ecs_type};
  const bool is_decided = kind.ecs_category == "api" || kind.ecs_category == "network" ||
                          kind.ecs_category == "intrusion_detection";
  const auto allowed = event_allowed(line);
  if (is_decided && allowed) types.push_back(*allowed ? "allowed" : "denied");
  return types;
}

EcsJson ecs_description(const EventKind& kind, const nlohmann::json& line) {
  EcsJson event{{"kind", kind.kind == "finding" ? "alert" : "event"},
                {"category", EcsJson::array({kind.ecs_category})},
                {"type", ecs_types(kind, line)},
                {"action", event_text(line, "kind")},
                {"outcome", ecs_outcome(line)},
                {"module", "cellblock"},
                {"dataset", "cellblock.audit"},
                {"sequence", event_number(line, "seq")},
                {"hash", event_text(line, "hash")}};
  if (const auto reason = event_text(line, "reason"); !reason.empty()) event["reason"] = reason;
  constexpr std::uint64_t nanoseconds = 1000;  // of a microsecond
  if (const auto took = event_number(line, "us"); took > 0) event["duration"] = took * nanoseconds;
  return event;
}

void add_ecs_target(EcsJson& event, const nlohmann::json& line) {
  const EventTarget target = event_target(line);
  event["destination"] = {{"address", target.host}};
  if (target.port) event["destination"]["port"] = *target.port;
  event["network"] = {{"bytes", event_number(line, "bytes")}};
}

}  // namespace

std::string ecs_event(const nlohmann::json& line, const EventOrigin& origin) {
  const EventKind& kind = event_kind(event_text(line, "kind"));
  EcsJson event{{"@timestamp", event_text(line, "time")},
                {"ecs", {{"version", "8.11.0"}}},
                {"event", ecs_description(kind, line)},
                {"observer",
                 {{"vendor", "cellblock"},
                  {"product", "cellblock"},
                  {"version", origin.version},
                  {"hostname", origin.host}}}};
  if (line.contains("uid")) event["user"] = {{"id", std::to_string(event_number(line, "uid"))}};
  if (const auto pid = event_number(line, "pid"); pid > 0) event["process"] = {{"pid", pid}};
  if (const auto server = event_text(line, "server"); !server.empty()) {
    event["service"] = {{"name", server}, {"type", "mcp"}};
  }
  if (kind.kind == "egress") add_ecs_target(event, line);
  if (const auto trace = event_trace(line); !trace.trace.empty()) {
    event["trace"] = {{"id", trace.trace}};
    event["span"] = {{"id", trace.span}};
  }
  event["cellblock"] = line;
  return event.dump(-1, ' ', true, EcsJson::error_handler_t::replace);
}

}  // namespace cellblock::cli
