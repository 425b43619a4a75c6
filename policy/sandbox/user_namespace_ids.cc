#include "policy/sandbox/user_namespace_ids.h"

#include <algorithm>
#include <ranges>
#include <set>

namespace cellblock {
namespace {

bool is_mapped(const std::vector<IdRange>& ranges, std::uint32_t id) {
  return std::ranges::any_of(ranges, [id](const IdRange& range) {
    return id >= range.first && id - range.first < range.count;
  });
}

// Neighbours share a line of the map.
void add_merged(const std::set<std::uint32_t>& ids, std::vector<IdRange>& ranges) {
  const std::size_t fixed = ranges.size();
  for (const std::uint32_t id : ids) {
    if (id == 0 || is_mapped(ranges, id)) continue;
    const bool follows = ranges.size() > fixed && ranges.back().first + ranges.back().count == id;
    if (follows) {
      ++ranges.back().count;
    } else {
      ranges.push_back({id, 1});
    }
  }
}

}  // namespace

MappedIds mapped_ids(const Config& config) {
  std::set<std::uint32_t> uids;
  std::set<std::uint32_t> gids;
  for (const ClientId& client : config.clients) {
    uids.insert(client.uid);
    gids.insert(client.gid);
  }
  for (const Server& server : config.servers) {
    if (server.run_as.kind != RunAsKind::named) continue;
    uids.insert(server.run_as.uid);
    gids.insert(server.run_as.gid);
  }
  const Identity& identity = config.identity;
  const IdRange cells{identity.first_cell_id, identity.cell_ids};
  MappedIds mapped{{{identity.uid, 1}, cells}, {{identity.gid, 1}, cells}};
  add_merged(uids, mapped.uids);
  add_merged(gids, mapped.gids);
  return mapped;
}

}  // namespace cellblock
