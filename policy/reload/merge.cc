#include "policy/reload/merge.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "policy/base/server_set.h"

namespace cellblock {
namespace {

Server tombstone(Server server) {
  server.removed = true;
  server.enabled = false;
  server.rules.clear();
  server.secrets.clear();
  server.owner_mounts.clear();
  server.secret_marks = {};
  return server;
}

// The same rules further down in the file are no others: whoever waits under one waits on.
void keep_rules(const Server& used, Server& fresh) {
  const auto is_same = [](const Rule& one, Rule other) {
    other.line = one.line;
    return one == other;
  };
  if (std::ranges::equal(used.rules, fresh.rules, is_same)) fresh.rules = used.rules;
}

// A server whose path has gone is broken until it is back: whom its cells are is not decided by
// that.
void keep_identity(const Server& used, Server& fresh) {
  const bool same = used.binds == fresh.binds && used.workspace == fresh.workspace;
  if (fresh.found.broken.empty() || !same) return;
  fresh.run_as = used.run_as;
  fresh.ownership = used.ownership;
  fresh.owner_mounts = used.owner_mounts;
}

// Whom the launcher can be it goes on to be able to be.
void keep_clients(const Config& used, Config& fresh) {
  for (const ClientId& client : used.clients) {
    const auto place = std::ranges::lower_bound(fresh.clients, client.uid, {}, &ClientId::uid);
    const bool is_there = place != fresh.clients.end() && place->uid == client.uid;
    if (!is_there) fresh.clients.insert(place, client);
  }
}

}  // namespace

Config merged(const Config& used, Config fresh) {
  std::vector<Server> declared = std::exchange(fresh.servers, {});
  for (const Server& server : used.servers) {
    const auto again = std::ranges::find(declared, server.name, &Server::name);
    if (again == declared.end()) {
      fresh.servers.push_back(tombstone(server));
    } else {
      keep_rules(server, *again);
      keep_identity(server, *again);
      fresh.servers.push_back(std::move(*again));
      declared.erase(again);
    }
  }
  std::ranges::move(declared, std::back_inserter(fresh.servers));
  // Found out once, at the start.
  fresh.cgroup = used.cgroup;
  keep_clients(used, fresh);
  fresh.kernel.landlock_abi = used.kernel.landlock_abi;
  // Rootless, the start has looked for subordinate ids.
  if (fresh.mode == RunMode::user) fresh.identity = used.identity;
  return fresh;
}

bool keeps_places(const Config& used, const Config& next) {
  if (next.servers.size() < used.servers.size() || next.servers.size() > max_servers) return false;
  return std::equal(used.servers.begin(), used.servers.end(), next.servers.begin(),
                    [](const Server& one, const Server& other) { return one.name == other.name; });
}

void take_over(Config& live, Config fresh) {
  for (std::size_t i = 0; i < fresh.servers.size(); ++i) {
    if (i == live.servers.size()) {
      live.servers.push_back(std::move(fresh.servers[i]));
    } else if (live.servers[i] != fresh.servers[i]) {
      live.servers[i].name.swap(fresh.servers[i].name);  // the same, and views of it stay good
      live.servers[i] = std::move(fresh.servers[i]);
    }
  }
  fresh.servers = std::move(live.servers);
  fresh.http = std::move(live.http);  // changes with a start only; sessions have its tokens' names
  live = std::move(fresh);
}

}  // namespace cellblock
