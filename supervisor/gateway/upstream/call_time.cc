#include "supervisor/gateway/upstream/call_time.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "policy/base/units.h"
#include "supervisor/gateway/message/failures.h"

namespace cellblock::gateway {
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
