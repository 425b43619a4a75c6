#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/catalogue/discovery_messages.h"
#include "supervisor/gateway/message/session_failures.h"
#include "supervisor/gateway/route/bridging.h"
#include "supervisor/gateway/route/era_route.h"
#include "supervisor/gateway/upstream/answer_edits.h"

/// Which era an era route's cell speaks, and the bridge where it is not the host's.
namespace cellblock::gateway {

// The host's own wherever the server speaks it. For a legacy host that is so until its `initialize`
// is refused: nothing is asked beforehand that would make it wait.
std::optional<Era> EraRoute::known_era() const {
  if (!host_era_ || parts_.plan.program == wire::CellProgram::probe) return host_era_;
  if (server_.era == ServerEra::legacy) return Era::legacy;
  if (server_.era == ServerEra::modern) return Era::modern;
  const Eras eras = services_.catalogues().eras(parts_.plan.server);
  if (*host_era_ == Era::legacy) {
    // It has agreed once: another answer now is for the host to hear.
    if (replay_.is_possible() && !bridge_) return Era::legacy;
    return legacy_refused_ || eras.legacy == Speaks::no ? Era::modern : Era::legacy;
  }
  if (eras.modern == Speaks::yes) return Era::modern;
  if (eras.modern == Speaks::no) return Era::legacy;
  return std::nullopt;
}

void EraRoute::ask_for_era() {
  if (waits_ != 0 || !host_era_) return;
  waits_ = services_.want_catalogue(
      parts_.plan.server, [this](const Catalogue* catalogue, const Failure& failure, Time now) {
        waits_ = 0;
        if (catalogue == nullptr) return lose(failure, now);
        cell_era_ = catalogue->era;
        advance(now);
      });
}

void EraRoute::open(Time now) {
  if (replay_.is_under_way()) return;
  span();
  if (replay_.is_due()) return start_replay(now);
  open_ = true;
  for (const HeldMessage& held : held_.take_all()) {
    forward(held.line, held.message, now);
  }
}

void EraRoute::span() {
  cell_era_ = cell_->agree_on(*cell_era_);
  if (host_era_ == cell_era_) {
    bridge_.reset();
  } else if (!bridge_) {
    bridge_ = make_bridge();
  } else {
    bridge_->new_cell(cell_->id());
    replay_.carried();
  }
  if (bridge_) upstream_->pins().withhold_unlisted();
}

std::unique_ptr<Bridge> EraRoute::make_bridge() {
  alarm_ = services_.make_alarm([this](Time now) {
    if (!bridge_) return;
    bridge_->deadline(now);
    drain(now);
    answered(now);
  });
  BridgeEffects& effects = *this;
  return gateway::make_bridge(parts_, cell_->id(), *host_era_, effects);
}

// A server that has no `initialize` says so in answer to it, and has spoilt nothing by it.
void EraRoute::watch_initialize(std::string_view line, const Message& message) {
  // A modern host is refused it by every server, which says nothing about the legacy era.
  if (server_.era != ServerEra::automatic || host_era_ != Era::legacy) return;
  if (legacy_agreed_ || initialize_) return;
  initialize_ = HeldMessage{std::string(line), message};
}

bool EraRoute::refuses_initialize(std::string_view line, const Message& message) {
  if (message.kind != MessageKind::error && message.kind != MessageKind::result) return false;
  if (!upstream_->is_initialize(message.id.in(line))) return false;
  const bool refused =
      message.kind == MessageKind::error && means_no_initialize(message.error.in(line));
  if (refused || message.kind == MessageKind::result) {
    services_.catalogues().learn_speaks(parts_.plan.server, Era::legacy,
                                        refused ? Speaks::no : Speaks::yes);
  }
  if (!refused) initialize_.reset();
  legacy_agreed_ = message.kind == MessageKind::result;
  return refused;
}

// In a fresh cell: this one may have taken an era for good. What else it was asked behind the
// `initialize`, it may have begun, so that is not asked again.
void EraRoute::start_again_as_modern(Time now) {
  upstream_->forget(initialize_->message.id.in(initialize_->line), "", now);
  upstream_->fail_all(
      plain_failure(FailureCode::bad_answer,
                    "the server refused initialize before it answered this", server_.name),
      now);
  held_.hold_first(*std::exchange(initialize_, std::nullopt));
  past_ = traffic();
  upstream_.reset();
  legacy_refused_ = true;
  running_ = open_ = false;
  std::exchange(cell_, nullptr)->leave(*this);
  cell_era_ = Era::modern;
  advance(now);
}

bool EraRoute::refuses_declared_era(std::string_view line, const Message& message) {
  if (server_.era == ServerEra::automatic || declared_era_agreed_) return false;
  if (message.kind != MessageKind::error && message.kind != MessageKind::result) return false;
  const bool is_legacy = server_.era == ServerEra::legacy;
  const Call* call = upstream_->call(message.id.in(line));
  const CallKind opening = is_legacy ? CallKind::initialize : CallKind::discover;
  if (call == nullptr || call->kind != opening) return false;
  declared_era_agreed_ = message.kind == MessageKind::result;
  if (declared_era_agreed_) return false;
  const std::string_view error = message.error.in(line);
  return is_legacy ? means_no_initialize(error) : era_hint(error) != EraHint::modern;
}

// In the server's own words it would be a riddle: "Method not found".
void EraRoute::fail_declared_era(std::string_view error, Time now) {
  const bool is_legacy = server_.era == ServerEra::legacy;
  fail_all(
      declared_era_refused(server_, is_legacy ? mcp::method::initialize : mcp::method::discover,
                           error_code(error)),
      now);
  answered(now);
}

}  // namespace cellblock::gateway
