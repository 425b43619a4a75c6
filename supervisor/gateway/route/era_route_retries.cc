#include <fmt/format.h>

#include <string>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/written_message.h"
#include "supervisor/gateway/route/era_route.h"

/// Calls that an era route makes again in its next cell.
namespace cellblock::gateway {

CallStates EraRoute::call_states() const {
  return {.is_in_flight = [this](std::string_view id) { return is_in_flight(id); },
          .is_unsent =
              [this](std::string_view id) {
                if (!upstream_) return false;
                if (!bridge_) return upstream_->is_unsent(id);
                const std::uint64_t asked = bridge_->asked_as(id);
                const std::string ours = std::to_string(asked);
                return asked != 0 && (bridged_.has(ours) || upstream_->is_unsent(ours));
              }};
}

// Only where the next cell can be told all that this one was: what a host has begun itself
// (`initialize`, and what came after it) nobody else can begin again.
std::vector<HeldMessage> EraRoute::withdraw_for_retry(const Failure& failure, Time now) {
  if (session_is_in_cell()) return {};
  std::vector<HeldMessage> again = retries_.take(failure, call_states(), now);
  for (const HeldMessage& held : again) withdraw(held.message.id.in(held.line), failure, now);
  return again;
}

// Without an answer to the host. What the bridge says to the server about it goes nowhere: that one
// is gone, and the relay is cleared.
void EraRoute::withdraw(std::string_view id, const Failure& failure, Time now) {
  // A retry that has not been sent yet: whoever holds it as well would answer it a second time.
  if (held_.drop(id)) return;
  if (!bridge_) return upstream_->forget(id, name_of(failure.code), now);
  const WrittenMessage written(
      parts_.shared.scanner,
      fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{{"requestId":{}}}}})",
                  mcp::notification::cancelled, id));
  if (written.message()) bridge_->from_host(written.line(), *written.message(), now);
}

void EraRoute::retry_soon() {
  if (!retry_alarm_) {
    retry_alarm_ = services_.make_alarm([this](Time now) {
      if (cell_ == nullptr && held_.awaited() != 0) advance(now);
    });
  }
  retry_alarm_->set(retries_.pause(parts_.shared.ids.next()));
}

// Nothing was sent, so nothing has to be cancelled. `initialize` may not be.
bool EraRoute::dropped_held(const Message& message, std::string_view line, Time now) {
  if (message.method != mcp::notification::cancelled) return false;
  const std::string_view id = message.request_id.in(line);
  if (!held_.drop(id)) return false;
  retries_.forget(id);
  answered(now);
  return true;
}

}  // namespace cellblock::gateway
