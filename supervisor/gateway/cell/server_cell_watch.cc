#include <array>
#include <string>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/cell/server_cell.h"
#include "supervisor/gateway/message/reserved_meta.h"

/// A cell's part in cell_vigil.h.
namespace cellblock::gateway {

// A probe or a survey has an end of its own.
bool ServerCell::is_watched() const {
  return plan_.program == wire::CellProgram::server &&
         (shared_ ||
          std::ranges::any_of(users_, [](const CellUser* user) { return user->session() != 0; }));
}

bool ServerCell::is_busy(Time now) const {
  return std::ranges::any_of(users_, [now](const CellUser* user) { return user->is_busy(now); });
}

bool ServerCell::is_awaited(Time now) const {
  return std::ranges::any_of(users_, [now](const CellUser* user) { return user->is_awaited(now); });
}

bool ServerCell::is_amid_list(Time now) const {
  return std::ranges::any_of(users_,
                             [now](const CellUser* user) { return user->is_amid_list(now); });
}

void ServerCell::watch(Time now) {
  if (!is_watched() || closed_) return;
  const bool may_ask = life_.state() == CellState::ready && era_;
  const CellHealth::Look look = health_.look(is_busy(now), may_ask, now);
  switch (look.action) {
    case CellHealth::Action::none:
      break;
    case CellHealth::Action::ask:
      ask_for_a_sign();
      break;
    case CellHealth::Action::stop:
      return stop_unneeded(GivenUp::idle, now);
    case CellHealth::Action::give_up:
      return fault(GivenUp::unresponsive);
  }
  effects_.set_deadline(look.next);
}

// The modern era has no `ping`.
void ServerCell::ask_for_a_sign() {
  const bool is_modern = *era_ == Era::modern;
  Json params;
  if (is_modern) {
    params = Json::object();
    stamp_request(params, Json::object(), "");
  }
  const std::string text =
      request_text("cellblock-sign-" + std::to_string(++signs_),
                   is_modern ? mcp::method::discover : mcp::method::ping, params);
  effects_.to_cell(std::array<std::string_view, 2>{text, "\n"});
  effects_.settle_soon();
}

// What is only being built has somebody who waits for it, or is spare.
bool ServerCell::may_give_way(Time now) const {
  if (is_spare_) return may_go_on();
  const bool may_end_idle = server_.stop.idle.has_value();
  return is_running() && may_end_idle && !is_retired_ && is_watched() && !is_busy(now);
}

void ServerCell::stop_unneeded(GivenUp why, Time now) {
  cause_ = why;
  retire();
  tell_users([now](CellUser& user) { user.let_go(now); });
  stop();
}

}  // namespace cellblock::gateway
