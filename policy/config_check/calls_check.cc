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
#include "policy/config/installation_keys.h"
#include "policy/config/server_keys.h"
#include "policy/config_check/key_reader.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

/// Of one user, unless the TOML says otherwise: far more than people and models need, and few
/// enough that a loop does not push everybody's lines out of the audit log.
constexpr Rate user_rate{.count = 200, .period = milliseconds{1'000}, .burst = 2'000};
constexpr std::size_t longest_tool_name = 128;
constexpr std::size_t most_tools = 1'024;

void check_queue(const Scope& scope, const Written& written, const CallQueue& queue) {
  if (!written.has("queue_time") || queue.most > 0) return;
  scope.error(written.at("queue_time"), "queue_time",
              "has no meaning without queue; allowed: set that as well, or leave this out");
}

// One that is written without the other moves the other along: it is meant as it is written.
void check_time(const Scope& scope, const Written& written, CallTime& time) {
  const bool has_deadline = written.has("deadline");
  const bool has_longest = written.has("max_deadline");
  if (!has_deadline && !has_longest) return;
  if (!has_longest && !time.deadline) time.longest.reset();
  if (!time.deadline || !time.longest || *time.deadline <= *time.longest) return;
  if (!has_longest) {
    time.longest = time.deadline;
  } else if (!has_deadline) {
    time.deadline = time.longest;
  } else {
    scope.error(written.at("deadline"), "deadline",
                fmt::format("is longer than max_deadline; allowed: at most {}",
                            duration_text(*time.longest)));
  }
}

bool is_readable(std::string_view name) {
  return !name.empty() && name.size() <= longest_tool_name && !name.contains('*') &&
         printable(name) == name;
}

std::optional<ToolCalls> check_tool(const Scope& scope, const ToolText& text,
                                    const CallTime& server) {
  if (!is_readable(text.name.value)) {
    scope.error(text.name.at, printable(text.name.value),
                "is no tool name; allowed: 1 to 128 printable bytes without *: each tool has a "
                "table of its own");
    return std::nullopt;
  }
  const Scope here = scope.below(text.name.value);
  ToolCalls tool{.name = text.name.value, .bounds = {}, .time = server};
  read_keys(here, text.keys, tool);
  check_time(here, text.keys, tool.time);
  return tool;
}

std::vector<ToolCalls> check_tools(const Scope& scope, const std::vector<ToolText>& texts,
                                   const CallTime& server) {
  std::vector<ToolCalls> tools;
  if (texts.size() > most_tools) {
    scope.error(texts.front().name.at, texts.front().name.value,
                fmt::format("is one of {} tables; allowed: at most {}", texts.size(), most_tools));
    return tools;
  }
  for (const ToolText& text : texts) {
    if (auto tool = check_tool(scope, text, server)) tools.push_back(std::move(*tool));
  }
  std::ranges::sort(tools, {}, &ToolCalls::name);
  return tools;
}

}  // namespace

UserCalls check_user_calls(const Scope& scope, const Written& written) {
  UserCalls calls{.user = {.rate = user_rate, .in_flight = {}}, .session = {}};
  read_keys(scope.below("calls"), written, calls);
  return calls;
}

ServerCalls check_server_calls(const Scope& scope, const Written& written,
                               const std::vector<ToolText>& tools) {
  const Scope here = scope.below("calls");
  ServerCalls calls;
  read_keys(here, written, calls);
  check_queue(here, written, calls.queue);
  check_time(here, written, calls.time);
  calls.tools = check_tools(scope.below("tool"), tools, calls.time);
  return calls;
}

}  // namespace cellblock
