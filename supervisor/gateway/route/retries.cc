#include "supervisor/gateway/route/retries.h"

#include <array>
#include <optional>

#include "policy/failures/end_verdict.h"

namespace cellblock::gateway {
namespace {

constexpr Milliseconds first_pause{200};

constexpr std::array hopeful = {
    Verdict::ordinary_exit, Verdict::crash,        Verdict::closed_stdout, Verdict::closed_stdin,
    Verdict::unread_stdin,  Verdict::egress_ended, Verdict::out_of_memory, Verdict::unresponsive};

std::string_view tool_of(const Message& message) {
  return message.method == mcp::method::tools_call ? std::string_view(message.name_text)
                                                   : std::string_view{};
}

}  // namespace

bool may_do_better(const Failure& failure) {
  return failure.code == FailureCode::server_failed &&
         std::ranges::any_of(hopeful, [&](Verdict one) { return name_of(one) == failure.verdict; });
}

bool Retries::is_repeatable(const Message& message) const {
  const ToolCalls* tool = find_tool(server_.calls, tool_of(message));
  return tool != nullptr && tool->repeatable == Repeatable::yes;
}

// Where nothing queues, what the server was not sent yet is so for no longer than its record takes.
bool Retries::may_keep(const Message& message, std::string_view line) const {
  if (server_.calls.retries == 0 || message.method == mcp::method::initialize) return false;
  if (!is_repeatable(message) && server_.calls.queue.most == 0) return false;
  std::size_t bytes = line.size();
  for (const Kept& kept : kept_) bytes += kept.message.line.size();
  return kept_.size() < most && bytes <= max_bytes;
}

void Retries::went(std::string_view line, const Message& message, const CallStates& calls,
                   Time now) {
  const std::string_view id = message.id.in(line);
  const auto again = std::ranges::find(kept_, id, &Kept::id);
  if (again != kept_.end() && again->on_its_way) {
    again->on_its_way = false;
    return;
  }
  std::erase_if(kept_, [&](const Kept& kept) {
    return kept.id == id || (!kept.on_its_way && !calls.is_in_flight(kept.id));
  });
  if (!may_keep(message, line)) return;
  kept_.push_back({.id = std::string(id),
                   .message = {std::string(line), message},
                   .began = now,
                   .repeatable = is_repeatable(message)});
}

// Whoever asked will not wait for longer than this.
bool Retries::is_in_time(const Kept& kept, Time now) const {
  const ToolCalls* tool = find_tool(server_.calls, tool_of(kept.message.message));
  const CallTime& time = tool == nullptr ? server_.calls.time : tool->time;
  return !time.deadline || now < kept.began + *time.deadline;
}

std::vector<HeldMessage> Retries::take(const Failure& failure, const CallStates& calls, Time now) {
  std::vector<HeldMessage> again;
  latest_attempt_ = 0;
  std::erase_if(kept_, [&](Kept& kept) {
    const bool is_worth_it = may_do_better(failure) && calls.is_in_flight(kept.id) &&
                             (kept.repeatable || calls.is_unsent(kept.id)) &&
                             kept.attempts < server_.calls.retries && is_in_time(kept, now);
    if (!is_worth_it) return true;
    kept.on_its_way = true;
    latest_attempt_ = std::max(latest_attempt_, ++kept.attempts);
    again.push_back(kept.message);
    return false;
  });
  return again;
}

Milliseconds Retries::pause(std::uint64_t random) const {
  const Milliseconds whole = first_pause * (1U << (std::max(latest_attempt_, 1U) - 1));
  const auto half = static_cast<std::uint64_t>(whole.count() / 2);
  return whole - Milliseconds(static_cast<std::int64_t>(random % (half + 1)));
}

}  // namespace cellblock::gateway
