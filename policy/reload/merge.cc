#include "policy/reload/merge.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "policy/base/server_set.h"
#include "policy/config/server_list.h"

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
  if (used.breakage.is_broken()) return;  // then it had none
  const bool same = used.binds == fresh.binds && used.workspace == fresh.workspace;
  if (fresh.found.broken.empty() || !same) return;
  fresh.run_as = used.run_as;
  fresh.ownership = used.ownership;
  fresh.owner_mounts = used.owner_mounts;
}

// Its user was not here when the launcher was told whom it can be. A reload that gives it back is
// not refused for that: the server waits for the next start.
void leave_out_unmapped(const Config& used, const Server& before, Server& fresh) {
  if (!before.breakage.is_broken() || fresh.breakage.is_broken()) return;
  if (fresh.run_as.kind != RunAsKind::named) return;
  const auto is_same = [&](const Server& server) {
    return server.run_as.kind == RunAsKind::named && server.run_as.uid == fresh.run_as.uid &&
           server.run_as.gid == fresh.run_as.gid;
  };
  const ClientId client{fresh.run_as.uid, fresh.run_as.gid};
  if (std::ranges::any_of(used.servers, is_same)) return;
  if (std::ranges::find(used.clients, client) != used.clients.end()) return;
  leave_out(fresh, {.cause = "run_as: \"" + fresh.run_as.user +
                             "\" was not here before; allowed: restart cellblockd"});
}

// Whom the launcher can be it goes on to be able to be.
void keep_clients(const Config& used, Config& fresh) {
  for (const ClientId& client : used.clients) {
    const auto place = std::ranges::lower_bound(fresh.clients, client.uid, {}, &ClientId::uid);
    const bool is_there = place != fresh.clients.end() && place->uid == client.uid;
    if (!is_there) fresh.clients.insert(place, client);
  }
}

constexpr const char* token_prefix = "listen.http.token.";

BrokenPart* part_of(std::vector<BrokenPart>& parts, const HttpToken& token) {
  const auto found = std::ranges::find(parts, token_prefix + token.name, &BrokenPart::name);
  return found == parts.end() ? nullptr : &*found;
}

// A token that is left out on either side waits for the next start, like all of [listen.http]: its
// file keeps nothing else from being reloaded.
void keep_tokens(const Config& used, Config& fresh) {
  if (!used.http || !fresh.http) return;
  std::vector<BrokenPart> before = used.broken;
  HttpListen one = *used.http;
  HttpListen other = *fresh.http;
  const auto waits = [&](const HttpToken& token) {
    return part_of(before, token) != nullptr || part_of(fresh.broken, token) != nullptr;
  };
  std::erase_if(one.tokens, waits);
  std::erase_if(other.tokens, waits);
  if (one != other) return;
  for (const HttpToken& token : used.http->tokens) {
    BrokenPart* part = part_of(fresh.broken, token);
    if (part != nullptr) part->breakage.cause += "; it is taken until cellblockd is restarted";
  }
  for (const HttpToken& token : fresh.http->tokens) {
    const BrokenPart* part = part_of(before, token);
    if (part == nullptr || part_of(fresh.broken, token) != nullptr) continue;
    fresh.broken.push_back({part->name, {.cause = "it can be used when cellblockd is restarted"}});
  }
  fresh.http = used.http;
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
      leave_out_unmapped(used, server, *again);
      fresh.servers.push_back(std::move(*again));
      declared.erase(again);
    }
  }
  std::ranges::move(declared, std::back_inserter(fresh.servers));
  // Found out once, at the start.
  fresh.cgroup = used.cgroup;
  keep_clients(used, fresh);
  keep_tokens(used, fresh);
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
