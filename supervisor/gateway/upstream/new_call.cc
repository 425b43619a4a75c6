#include "supervisor/gateway/upstream/new_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "policy/base/units.h"
#include "policy/mcp/methods.h"
#include "policy/mcp/trace_context.h"
#include "supervisor/gateway/message/json_tree.h"
#include "supervisor/gateway/message/revisions.h"
#include "supervisor/gateway/message/session_failures.h"

namespace cellblock::gateway {
namespace {

std::string named_in(std::string_view line, const Message& message, CallKind kind) {
  if (kind == CallKind::resource_read) return read_string(message.uri.in(line));
  return kind == CallKind::prompt_get ? message.name_text : std::string();
}

bool is_of_list(const std::string& wanted) {
  return std::ranges::any_of(
      mcp::list_changes, [&](const mcp::ListChange& change) { return wanted == change.wanted; });
}

// What is not known here may be anything.
bool is_more(const std::string& key, const nlohmann::ordered_json& wanted) {
  if (is_of_list(key)) return false;
  return !wanted.empty() && wanted != nlohmann::ordered_json(false);
}

Json wishes_in(std::string_view line, const Message& message) {
  const Json params = read_tree(message.params.in(line));
  const Json* wanted = params.is_object() ? object_in(params, "notifications") : nullptr;
  return wanted != nullptr ? *wanted : Json::object();
}

std::uint8_t changes_of(const Json& wanted) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < mcp::list_changes.size(); ++i) {
    const auto found = wanted.find(mcp::list_changes.at(i).wanted);
    if (found != wanted.end() && found->is_boolean() && found->get<bool>()) bits |= 1U << i;
  }
  return static_cast<std::uint8_t>(bits);
}

void note_wishes(std::string_view line, const Message& message, Call& call) {
  const Json wanted = wishes_in(line, message);
  call.wanted_changes = changes_of(wanted);
  for (const auto& [key, wish] : wanted.items()) call.wants_more |= is_more(key, wish);
}

}  // namespace

std::uint8_t wished_changes(std::string_view line, const Message& message) {
  return changes_of(wishes_in(line, message));
}

Call call_of(std::string_view line, const Message& message, std::uint64_t own_id, Time now) {
  const CallKind kind = kind_of(message.method);
  Call call{.own_id = own_id,
            .caller_id = std::string(message.id.in(line)),
            .progress_token = std::string(message.meta_progress_token.in(line)),
            .traceparent = std::string(traceparent_in(message.traceparent.in(line))),
            .tool = kind == CallKind::tool_call ? message.name_text : std::string{},
            .named = named_in(line, message, kind),
            .kind = kind,
            .era = era_of(message),
            .began = now,
            .has_cursor = !message.cursor.empty()};
  if (kind == CallKind::listen) note_wishes(line, message, call);
  return call;
}

namespace {

const CallTime& time_of(const Call& call, const ServerCalls& rules) {
  const ToolCalls* tool = find_tool(rules, call.tool);
  return tool == nullptr ? rules.time : tool->time;
}

}  // namespace

CallDeadline deadline_of(const Call& call, const ServerCalls& rules) {
  switch (call.kind) {
    case CallKind::initialize:
    case CallKind::listen:
    case CallKind::task_result:
      return {};
    default:
      return {time_of(call, rules), call.began};
  }
}

Failure timeout_failure(const Call& call, const Server& server, std::string_view network_advice,
                        Time now) {
  const CallTime& time = time_of(call, server.calls);
  const bool is_longest = call.deadline.is_at_longest(now) && time.longest;
  const auto limit = is_longest ? time.longest : time.deadline;
  const std::string who = call.tool.empty()
                              ? fmt::format("server \"{}\"", server.name)
                              : fmt::format("tool \"{}\" of server \"{}\"", call.tool, server.name);
  Failure failure =
      plain_failure(FailureCode::timeout,
                    fmt::format("{} did not answer within {} ({}), so it was told to stop", who,
                                duration_text(limit.value_or(Milliseconds{0})),
                                is_longest ? "max_deadline" : "deadline"),
                    server.name);
  if (!network_advice.empty()) {
    failure.advice = fmt::format("{}; what was asked may have been done in part", network_advice);
  }
  return failure;
}

}  // namespace cellblock::gateway
