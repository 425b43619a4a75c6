#include "supervisor/gateway/leg.h"

#include <utility>

namespace cellblock::gateway {

Leg::Leg(const Server& server, CellPlan plan, UpstreamIds& ids, LegEffects& effects)
    : server_(server), plan_(plan), ids_(ids), effects_(effects) {}

// --- from above ----------------------------------------------------------------------------------

void Leg::start(Time now) {
  cell_ = &effects_.make_cell(plan_);
  cell_->use(*this, now);
}

void Leg::from_host(std::string_view line, const Message& message, Time now) {
  if (!conversation_) return;
  if (message.kind == MessageKind::request && cell_ != nullptr) cell_->asked();
  conversation_->from_host(line, message, now);
}

void Leg::fail_all(const Failure& failure, Time now) {
  if (conversation_) conversation_->fail_all(failure, now);
}

void Leg::cancel_all(std::string_view reason, Time now) {
  if (conversation_) conversation_->cancel_all(reason, now);
}

void Leg::leave() {
  if (cell_ == nullptr) return;
  last_cell_ = cell_->id();
  std::exchange(cell_, nullptr)->leave(*this);
}

// --- from the cell -------------------------------------------------------------------------------

void Leg::cell_running(Time now) {
  ConversationEffects& effects = *this;
  conversation_.emplace(server_, plan_.program, ids_, effects);
  effects_.leg_running(now);
}

void Leg::from_cell(std::string_view line, const Message& message, Time now) {
  conversation_->from_cell(line, message, now);
  effects_.leg_answered(now);
}

bool Leg::answer_lost(std::string_view ours, const Failure& failure, Time now) {
  if (in_flight() == 0) return false;
  bool any = true;
  if (ours.empty()) {
    conversation_->fail_all(failure, now);
  } else {
    any = conversation_->fail(ours, failure, now);
  }
  effects_.leg_answered(now);
  return any;
}

void Leg::cell_gone(const Failure& failure, Time now) {
  last_cell_ = std::exchange(cell_, nullptr)->id();
  effects_.leg_lost(failure, now);
}

bool Leg::owns(std::string_view ours) const { return conversation_ && conversation_->owns(ours); }

// --- from the conversation -----------------------------------------------------------------------

void Leg::to_cell(Slices message) {
  if (cell_ != nullptr) cell_->say(message);
}

void Leg::record(const AuditNote& note) { effects_.record({server_.name, cell()}, note); }

}  // namespace cellblock::gateway
