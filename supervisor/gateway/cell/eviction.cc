#include "supervisor/gateway/cell/eviction.h"

namespace cellblock::gateway {

namespace {

bool goes_before(const EvictionCandidate& one, const EvictionCandidate& other) {
  if (one.is_spare != other.is_spare) return one.is_spare;
  return one.last_used < other.last_used;
}

bool may_go(const EvictionCandidate& cell, const WantedPlace& wanted) {
  return cell.may_give_way && (wanted.is_awaited || cell.is_spare);
}

}  // namespace

bool is_place_for(std::uint32_t freed, std::uint32_t wanted, wire::StartRefusal refusal) {
  return refusal != wire::StartRefusal::too_many_cells || freed == wanted;
}

bool is_want_of_room(wire::StartRefusal refusal) {
  return refusal == wire::StartRefusal::too_many_cells ||
         refusal == wire::StartRefusal::too_many_cells_in_all;
}

Eviction eviction_for(const std::vector<EvictionCandidate>& cells, const WantedPlace& wanted) {
  std::optional<std::size_t> victim;
  std::size_t ending = 0;
  bool is_soon = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!is_place_for(cells[i].server, wanted.server, wanted.refusal)) continue;
    if (cells[i].is_ending) ++ending;
    if (cells[i].is_ending || !may_go(cells[i], wanted)) continue;
    if (cells[i].is_in_use) is_soon = true;
    if (cells[i].is_in_use) continue;
    if (!victim || goes_before(cells[i], cells[*victim])) victim = i;
  }
  if (wanted.is_awaited && ending > wanted.claims) return {.is_under_way = true};
  const bool may_come = ending != 0 || is_soon;
  return {.is_under_way = wanted.is_awaited && may_come && !victim, .victim = victim};
}

}  // namespace cellblock::gateway
