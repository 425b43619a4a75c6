#include "supervisor/launcher/prepare/reload_compatibility.h"

#include <algorithm>

#include "policy/reload/places.h"

namespace cellblock::launcher {
namespace {

using wire::ReloadRefusal;

bool same_group(Cgroup now, Cgroup next) {
  // Words for people.
  now.missing_because.clear();
  next.missing_because.clear();
  return now == next;
}

bool is_in(const std::vector<IdRange>& ranges, std::uint32_t id) {
  return std::ranges::any_of(ranges, [id](const IdRange& range) {
    return id >= range.first && id - range.first < range.count;
  });
}

// What was neighbours before need not be now.
bool covers(const std::vector<IdRange>& ranges, const IdRange& wanted) {
  if (std::ranges::find(ranges, wanted) != ranges.end()) return true;
  for (std::uint32_t i = 0; i < wanted.count; ++i) {
    if (!is_in(ranges, wanted.first + i)) return false;
  }
  return true;
}

bool covers_all(const std::vector<IdRange>& ranges, const std::vector<IdRange>& wanted) {
  return std::ranges::all_of(wanted,
                             [&ranges](const IdRange& range) { return covers(ranges, range); });
}

bool are_mapped(const MappedIds& start, const MappedIds& wanted) {
  return covers_all(start.uids, wanted.uids) && covers_all(start.gids, wanted.gids);
}

}  // namespace

StartFacts start_facts(const Config& first) {
  return {mapped_ids(first), first.http.has_value(), first.metrics.has_value(),
          granted_calls(first)};
}

ReloadRefusal refusal_of(const StartFacts& start, const Config& now, const Config& next) {
  if (next.mode != now.mode) return ReloadRefusal::mode;
  if (next.identity != now.identity) return ReloadRefusal::identity;
  if (next.state_directory != now.state_directory) return ReloadRefusal::state_directory;
  if (!same_group(now.cgroup, next.cgroup)) return ReloadRefusal::cgroup;
  const bool same_programs =
      next.http.has_value() == start.http && next.metrics.has_value() == start.metrics;
  if (!same_programs) return ReloadRefusal::programs;
  if (!are_mapped(start.ids, mapped_ids(next))) return ReloadRefusal::ids_not_mapped;
  if (!std::ranges::includes(start.calls, granted_calls(next))) return ReloadRefusal::calls;
  // Gateways and the supervisor name servers by their index.
  if (!keeps_places(now, next)) return ReloadRefusal::servers_moved;
  return ReloadRefusal::none;
}

}  // namespace cellblock::launcher
