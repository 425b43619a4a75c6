#include "supervisor/gateway/life/eviction.h"

namespace cellblock::gateway {

namespace {

bool goes_before(const EvictionCandidate& one, const EvictionCandidate& other) {
  if (one.is_spare != other.is_spare) return one.is_spare;
  return one.last_used < other.last_used;
}

}  // namespace

bool is_want_of_room(wire::StartRefusal refusal) {
  return refusal == wire::StartRefusal::too_many_cells ||
         refusal == wire::StartRefusal::too_many_cells_in_all;
}

Eviction eviction_for(const std::vector<EvictionCandidate>& cells, std::uint32_t wanted_server,
                      wire::StartRefusal refusal) {
  Eviction eviction;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_of_server = cells[i].server == wanted_server;
    if (refusal == wire::StartRefusal::too_many_cells && !is_of_server) continue;
    if (cells[i].is_ending) return {.is_under_way = true};
    if (!cells[i].may_give_way) continue;
    const bool is_better = !eviction.victim || goes_before(cells[i], cells[*eviction.victim]);
    if (is_better) eviction.victim = i;
  }
  return eviction;
}

}  // namespace cellblock::gateway
