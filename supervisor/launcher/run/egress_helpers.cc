#include "supervisor/launcher/run/egress_helpers.h"

namespace cellblock::launcher {

void EgressHelpers::start(std::uint64_t cell, const EgressEnds& ends) {
  auto started = factory_.start_egress(ends);
  if (!started) return cells_.kill_without_egress(cell, started.error().facts());
  const std::uint32_t id = started->id;
  const auto helper = cells_.add(
      std::move(started->cell),
      {[] {}, [this, cell, id](const CellFacts& facts) { helper_ended(cell, id, facts); }});
  if (helper) {
    helpers_[cell] = *helper;
    return;
  }
  factory_.give_back(id);
  const SetupFailure failure{SetupStep::prepare, helper.error().number};
  cells_.kill_without_egress(cell, failure.facts());
}

// Told, not killed: it has not said all about the cell yet.
void EgressHelpers::cell_ended(std::uint64_t cell) {
  const auto found = helpers_.find(cell);
  if (found == helpers_.end()) return;
  cells_.expect_end(found->second);
  cells_.terminate(found->second);
}

void EgressHelpers::helper_ended(std::uint64_t cell, std::uint32_t id, const CellFacts& facts) {
  helpers_.erase(cell);
  factory_.give_back(id);
  cells_.kill_without_egress(cell, facts);
  ended_();
}

}  // namespace cellblock::launcher
