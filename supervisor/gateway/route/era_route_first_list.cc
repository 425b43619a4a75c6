#include <array>
#include <string>
#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/message/era_of.h"
#include "supervisor/gateway/message/failures.h"
#include "supervisor/gateway/route/era_route.h"

/// The tools of a server, asked for before the first call of a host that has not listed them.
namespace cellblock::gateway {

namespace {

// A server that does not answer this will hardly answer the call.
constexpr Milliseconds patience{2'000};

}  // namespace

// What comes meanwhile waits behind the call.
void EraRoute::list_first(std::string_view line, const Message& message) {
  hold(line, message);
  open_ = false;
  ask_for_first_list();
}

// Behind a bridge it is asked for when the bridge makes the call: before, the server may not have
// been told yet who speaks.
bool EraRoute::waits_for_list(std::string_view line, const Message& message) {
  if (!first_list_.is_asking()) {
    if (!first_list_.wants(upstream_->pins(), message)) return false;
    ask_for_first_list();
  }
  const bool is_cancellation = message.method == mcp::notification::cancelled;
  if (is_cancellation && bridged_.drop(message.request_id.in(line))) return true;
  if (bridged_.hold(line, message) || message.kind != MessageKind::request) return true;
  const Failure failure = plain_failure(
      FailureCode::too_many, "too much waits for the list of this server's tools", server_.name);
  relay_.push(
      {Relayed::To::bridge, Upstream::failed_reply(message.id.in(line), kind_of(message.method),
                                                   era_of(message), failure)});
  return true;
}

void EraRoute::ask_for_first_list() {
  const std::string text =
      first_list_.begin(parts_.shared.ids, *cell_era_, parts_.shared.config.catalogue.max_bytes);
  if (!first_list_alarm_) {
    first_list_alarm_ = services_.make_alarm([this](Time now) {
      if (first_list_.is_asking()) go_without_list(now);
    });
  }
  first_list_alarm_->set(patience);
  to_cell(std::array<std::string_view, 2>{text, "\n"});
}

void EraRoute::first_list_answered(std::string_view line, const Message& message, Time now) {
  const auto next = first_list_.answered(line, message, parts_.shared.ids, upstream_->pins());
  if (next) return to_cell(std::array<std::string_view, 2>{*next, "\n"});
  go_without_list(now);
}

// With it, if it was answered.
void EraRoute::go_without_list(Time now) {
  first_list_.give_up();
  first_list_alarm_->set(std::nullopt);
  if (bridge_) {
    let_bridged_go(now);
  } else {
    advance(now);
  }
  answered(now);
}

// What is not known now is refused (PinGate::withhold_unlisted), and the next call asks for the
// list anew.
void EraRoute::let_bridged_go(Time now) {
  for (HeldMessage& held : bridged_.take_all()) {
    relay_.push({Relayed::To::server, std::move(held.line)});
  }
  drain(now);
  first_list_.reset();
}

}  // namespace cellblock::gateway
