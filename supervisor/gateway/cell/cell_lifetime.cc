#include "supervisor/gateway/cell/cell_lifetime.h"

#include <array>
#include <cstddef>

namespace cellblock::gateway {
namespace {

using enum CellState;

struct Step {
  CellState next;
  CellAction action;
};

constexpr Step to(CellState next, CellAction action = CellAction::none) { return {next, action}; }

// Not "ignored": nobody may send this here. Only the launcher's word can bring it about, and a
// launcher that we misunderstand must not go on building cells for us.
constexpr Step x{CellState::ended, CellAction::report_impossible};

constexpr Step ask = to(asked, CellAction::ask_start);
constexpr Step withdraw = to(abandoned, CellAction::withdraw_start);
constexpr Step drain = to(draining, CellAction::close_input);
constexpr Step term = to(terminating, CellAction::terminate);
constexpr Step kill = to(killing, CellAction::kill);

// A row per state, a column per input, in the order of their enumerations.
// clang-format off
constexpr std::array<std::array<Step, cell_input_count>, cell_state_count> table{{
//                start  started           refused    running            answered         stop                fault               deadline            ended
/* stopped     */ {{ask, x,                x,         x,                 x,               to(stopped),        to(stopped),        to(stopped),        x}},
/* asked       */ {{x,   to(building),     to(ended), x,                 x,               withdraw,           withdraw,           to(asked),          x}},
/* abandoned   */ {{x,   kill,             to(ended), x,                 x,               to(abandoned),      to(abandoned),      to(abandoned),      x}},
/* building    */ {{x,   x,                x,         to(handshaking),   x,               kill,               kill,               kill,               to(ended)}},
/* handshaking */ {{x,   x,                x,         x,                 to(ready),       drain,              kill,               kill,               to(ended)}},
/* ready       */ {{x,   x,                x,         x,                 to(ready),       drain,              kill,               to(ready),          to(ended)}},
/* draining    */ {{x,   x,                x,         x,                 to(draining),    to(draining),       kill,               term,               to(ended)}},
/* terminating */ {{x,   x,                x,         x,                 to(terminating), to(terminating),    kill,               kill,               to(ended)}},
/* killing     */ {{x,   x,                x,         to(killing),       to(killing),     to(killing),        to(killing),        to(killing),        to(ended)}},
/* ended       */ {{x,   x,                x,         x,                 to(ended),       to(ended),          to(ended),          to(ended),          x}},
}};
// clang-format on

}  // namespace

CellAction CellLifetime::on(CellInput input) {
  const Step step = table[static_cast<std::size_t>(state_)][static_cast<std::size_t>(input)];
  state_ = step.next;
  return step.action;
}

std::string_view public_name_of(CellState state) {
  switch (state) {
    case stopped:
    case ended:
      return "stopped";
    case asked:
    case abandoned:
    case building:
      return "starting";
    case handshaking:
      return "handshaking";
    case ready:
      return "ready";
    case draining:
    case terminating:
    case killing:
      break;
  }
  return "draining";
}

}  // namespace cellblock::gateway
