#include "policy/reload/merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/config/host_facts.h"
#include "policy/config/server_list.h"
#include "policy/sandbox/user_namespace_ids.h"

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

// Whom the launcher can be was settled at its start.
bool can_be(const MappedIds& mapped, const ClientId& person) {
  const auto is_in = [](const std::vector<IdRange>& ranges, std::uint32_t id) {
    return std::ranges::any_of(ranges, [id](const IdRange& range) {
      return id >= range.first && id - range.first < range.count;
    });
  };
  return is_in(mapped.uids, person.uid) && is_in(mapped.gids, person.gid);
}

// What a reload cannot give does not refuse it: the server waits for the next start. As whom it
// would run is forgotten, for the launcher refuses whom it cannot be.
void leave_out_unmapped(const MappedIds& mapped, Server& fresh) {
  if (fresh.run_as.kind != RunAsKind::named) return;
  if (can_be(mapped, {fresh.run_as.uid, fresh.run_as.gid})) return;
  if (!fresh.breakage.is_broken())
    leave_out(fresh, {.cause = "run_as: \"" + fresh.run_as.user +
                               "\" was not here before; allowed: restart cellblockd"});
  fresh.run_as = {};
}

// The others are whom a start would have told the launcher.
std::vector<ClientId> take_unmapped(const MappedIds& mapped, Config& fresh) {
  const auto others = std::ranges::stable_partition(
      fresh.clients, [&](const ClientId& client) { return can_be(mapped, client); });
  std::vector<ClientId> unmapped(others.begin(), others.end());
  fresh.clients.erase(others.begin(), others.end());
  return unmapped;
}

bool is_one_of(const std::vector<ClientId>& people, std::uint32_t uid) {
  return std::ranges::find(people, uid, &ClientId::uid) != people.end();
}

// Of a group it is not known here who is in it.
bool runs_for_others(const Server& server, const Config& fresh) {
  const NamedPeople people = named_people(server, fresh.roles);
  return !people.gids.empty() || std::ranges::any_of(people.uids, [&](std::uint32_t uid) {
    return is_one_of(fresh.clients, uid);
  });
}

bool names_one_of(const Server& server, const Config& fresh,
                  const std::vector<ClientId>& unmapped) {
  return std::ranges::any_of(named_people(server, fresh.roles).uids,
                             [&](std::uint32_t uid) { return is_one_of(unmapped, uid); });
}

constexpr std::size_t most_named = 8;

std::string uids_of(const std::vector<ClientId>& people) {
  std::string text;
  for (std::size_t i = 0; i < std::min(people.size(), most_named); ++i) {
    text += (i == 0 ? "uid " : ", ") + std::to_string(people[i].uid);
  }
  if (people.size() <= most_named) return text;
  return text + " and " + std::to_string(people.size() - most_named) + " more";
}

// What others use of the same server goes on; what nobody else could use is left out as a whole.
void leave_out_people(Config& fresh, const std::vector<ClientId>& unmapped) {
  if (unmapped.empty()) return;
  const std::string cause = uids_of(unmapped) +
                            " cannot be run as, not having been known when cellblockd started; "
                            "allowed: restart cellblockd";
  for (Server& server : fresh.servers) {
    const bool is_asked =
        !server.removed && !server.breakage.is_broken() && server.run_as.kind == RunAsKind::client;
    if (!is_asked || !names_one_of(server, fresh, unmapped) || runs_for_others(server, fresh)) {
      continue;
    }
    leave_out(server, {.cause = "run_as: " + cause});
  }
  fresh.broken.push_back({std::string(part_of_clients), {.cause = cause}});
}

// Whom the launcher can be it goes on to be able to be.
void keep_clients(const Config& used, Config& fresh) {
  for (const ClientId& client : used.clients) {
    const auto place = std::ranges::lower_bound(fresh.clients, client.uid, {}, &ClientId::uid);
    const bool is_there = place != fresh.clients.end() && place->uid == client.uid;
    if (!is_there) fresh.clients.insert(place, client);
  }
}

void keep_to_mapped(const MappedIds& mapped, Config& fresh) {
  for (Server& server : fresh.servers) leave_out_unmapped(mapped, server);
  leave_out_people(fresh, take_unmapped(mapped, fresh));
}

HttpToken revoked(HttpToken token) {
  token.revoked = true;
  token.sha256 = {};
  token.groups.clear();
  return token;
}

// Sessions and cellblock-http name a token by its index. One that is another in any way is revoked,
// and has a new place: whoever came with the old one may not go on as the new one.
void keep_token_places(const Config& used, Config& fresh) {
  if (!used.http || !fresh.http) return;
  std::vector<HttpToken> declared = std::exchange(fresh.http->tokens, {});
  std::erase_if(declared, &HttpToken::revoked);
  for (const HttpToken& token : used.http->tokens) {
    const auto again = std::ranges::find(declared, token);
    if (again == declared.end()) {
      fresh.http->tokens.push_back(revoked(token));
    } else {
      fresh.http->tokens.push_back(std::move(*again));
      declared.erase(again);
    }
  }
  std::ranges::move(declared, std::back_inserter(fresh.http->tokens));
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
  // Rootless that is the user alone, whom the launcher always can be.
  if (fresh.mode == RunMode::system) keep_to_mapped(mapped_ids(used), fresh);
  keep_token_places(used, fresh);
  fresh.kernel.landlock_abi = used.kernel.landlock_abi;
  // Rootless, the start has looked for subordinate ids.
  if (fresh.mode == RunMode::user) fresh.identity = used.identity;
  return fresh;
}

namespace {

// In place, like servers: sessions have views of the names.
void take_over_tokens(std::vector<HttpToken>& live, std::vector<HttpToken>& fresh) {
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    if (i == live.size()) {
      live.push_back(std::move(fresh[i]));
    } else if (live[i] != fresh[i]) {
      live[i].name.swap(fresh[i].name);
      live[i] = std::move(fresh[i]);
    }
  }
  fresh = std::move(live);
}

}  // namespace

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
  if (live.http && fresh.http) take_over_tokens(live.http->tokens, fresh.http->tokens);
  live = std::move(fresh);
}

namespace {

// Tokens of a table that is to go are revoked at once.
void keep_http(const Config& used, Config& fresh) {
  if (!used.http) return fresh.http.reset();
  if (!fresh.http) {
    fresh.http = used.http;
    for (HttpToken& token : fresh.http->tokens) token = revoked(std::move(token));
    return;
  }
  fresh.http->address = used.http->address;
  fresh.http->port = used.http->port;
  fresh.http->socket = used.http->socket;
  fresh.http->mode = used.http->mode;
  fresh.http->group = used.http->group;
}

}  // namespace

void keep_for_restart(const Config& used, Config& fresh) {
  fresh.listen = used.listen;
  fresh.metrics = used.metrics;
  fresh.audit.keep = used.audit.keep;
  fresh.audit.journal = used.audit.journal;
  fresh.results = used.results;
  keep_http(used, fresh);
}

}  // namespace cellblock
