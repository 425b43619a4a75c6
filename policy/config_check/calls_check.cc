#include "policy/config_check/calls_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "policy/base/printable.h"
#include "policy/base/units.h"
#include "policy/rates/rate_text.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr Range<std::int64_t> burst_range{1, most_calls};
constexpr Range<std::int64_t> in_flight_range{1, 100'000};
constexpr Range<std::int64_t> queue_range{0, 1'024};
constexpr Range<std::int64_t> retries_range{0, 5};
constexpr Range<milliseconds> queue_time_range{milliseconds{1}, milliseconds{600'000}};
constexpr Range<milliseconds> deadline_range{milliseconds{100}, milliseconds{31LL * 86'400'000}};
/// Of one user, unless the TOML says otherwise: far more than people and models need, and few
/// enough that a loop does not push everybody's lines out of the audit log.
constexpr Rate user_rate{.count = 200, .period = milliseconds{1'000}, .burst = 2'000};
constexpr std::size_t longest_tool_name = 128;
constexpr std::size_t most_tools = 1'024;

/// A rate, or "none".
void check_rate(const Scope& scope, const CallBoundsText& text, std::optional<Rate>& out) {
  if (!text.rate) return;
  out.reset();
  if (text.rate->value == "none") return;
  if (auto rate = parse_rate(text.rate->value)) {
    out = *rate;
  } else {
    scope.error(text.rate->at, "rate", rate.error().text);
  }
}

void check_burst(const Scope& scope, const CallBoundsText& text, CallBounds& bounds) {
  if (!text.burst) return;
  if (bounds.rate) {
    return check_integer(scope, "burst", text.burst, burst_range, bounds.rate->burst);
  }
  if (text.rate && text.rate->value != "none") return;  // which is complained about
  scope.error(text.burst->at, "burst",
              "has no meaning without rate; allowed: set that as well, or leave this out");
}

CallBounds check_bounds(const Scope& scope, const CallBoundsText& text, CallBounds bounds = {}) {
  check_rate(scope, text, bounds.rate);
  check_burst(scope, text, bounds);
  if (text.in_flight) {
    check_integer(scope, "in_flight", text.in_flight, in_flight_range, bounds.in_flight.emplace(1));
  }
  return bounds;
}

CallQueue check_queue(const Scope& scope, const ServerCallsText& text) {
  CallQueue queue;
  check_integer(scope, "queue", text.queue, queue_range, queue.most);
  check_duration(scope, "queue_time", text.queue_time, queue_time_range, queue.longest_wait);
  if (text.queue_time && queue.most == 0) {
    scope.error(text.queue_time->at, "queue_time",
                "has no meaning without queue; allowed: set that as well, or leave this out");
  }
  return queue;
}

/// A time, or "none".
void check_bound(const Scope& scope, std::string_view key, const Maybe<std::string>& text,
                 std::optional<milliseconds>& out) {
  if (!text) return;
  if (text->value == "none") {
    out.reset();
    return;
  }
  milliseconds time = out.value_or(deadline_range.most);
  check_duration(scope, key, text, deadline_range, time);
  out = time;
}

// One that is written without the other moves the other along: it is meant as it is written.
CallTime check_time(const Scope& scope, const Maybe<std::string>& deadline,
                    const Maybe<std::string>& longest, CallTime time) {
  check_bound(scope, "deadline", deadline, time.deadline);
  check_bound(scope, "max_deadline", longest, time.longest);
  if (!deadline && !longest) return time;
  if (!longest && !time.deadline) time.longest.reset();
  if (!time.deadline || !time.longest || *time.deadline <= *time.longest) return time;
  if (!longest) {
    time.longest = time.deadline;
  } else if (!deadline) {
    time.deadline = time.longest;
  } else {
    scope.error(deadline->at, "deadline",
                fmt::format("is longer than max_deadline; allowed: at most {}",
                            duration_text(*time.longest)));
  }
  return time;
}

bool is_readable(std::string_view name) {
  return !name.empty() && name.size() <= longest_tool_name && !name.contains('*') &&
         printable(name) == name;
}

std::optional<ToolCalls> check_tool(const Scope& scope, const ToolCallsText& text,
                                    const CallTime& server) {
  if (!is_readable(text.name.value)) {
    scope.error(text.name.at, printable(text.name.value),
                "is no tool name; allowed: 1 to 128 printable bytes without *: each tool has a "
                "table of its own");
    return std::nullopt;
  }
  const Scope here = scope.below(text.name.value);
  ToolCalls tool{.name = text.name.value};
  tool.bounds = check_bounds(here, text.bounds);
  tool.time = check_time(here, text.deadline, text.max_deadline, server);
  if (text.idempotent && text.idempotent->value) tool.repeatable = Repeatable::yes;
  return tool;
}

std::vector<ToolCalls> check_tools(const Scope& scope, const std::vector<ToolCallsText>& texts,
                                   const CallTime& server) {
  std::vector<ToolCalls> tools;
  if (texts.size() > most_tools) {
    scope.error(texts.front().name.at, texts.front().name.value,
                fmt::format("is one of {} tables; allowed: at most {}", texts.size(), most_tools));
    return tools;
  }
  for (const ToolCallsText& text : texts) {
    if (auto tool = check_tool(scope, text, server)) tools.push_back(std::move(*tool));
  }
  std::ranges::sort(tools, {}, &ToolCalls::name);
  return tools;
}

}  // namespace

UserCalls check_user_calls(const Scope& scope, const UserCallsText& text) {
  const Scope here = scope.below("calls");
  return {.user = check_bounds(here.below("user"), text.user, {.rate = user_rate, .in_flight = {}}),
          .session = check_bounds(here.below("session"), text.session)};
}

ServerCalls check_server_calls(const Scope& scope, const ServerCallsText& text,
                               const std::vector<ToolCallsText>& tools) {
  const Scope here = scope.below("calls");
  ServerCalls calls;
  calls.bounds = check_bounds(here, text.bounds);
  calls.queue = check_queue(here, text);
  calls.time = check_time(here, text.deadline, text.max_deadline, calls.time);
  check_integer(here, "retries", text.retries, retries_range, calls.retries);
  calls.tools = check_tools(scope.below("tool"), tools, calls.time);
  return calls;
}

}  // namespace cellblock
