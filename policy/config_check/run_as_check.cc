#include "policy/config_check/run_as_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "policy/config/server_people.h"

namespace cellblock {
namespace {

std::optional<UserFacts> find_account(const Located<IdText>& text, const HostFacts& facts) {
  if (const auto* name = std::get_if<std::string>(&text.value)) {
    const auto found = facts.users.find(*name);
    return found == facts.users.end() ? std::nullopt : std::optional(found->second);
  }
  const auto number = std::get<std::int64_t>(text.value);
  if (number < 0 || number > UINT32_MAX) return std::nullopt;
  const auto found = facts.primary_groups.find(static_cast<std::uint32_t>(number));
  if (found == facts.primary_groups.end()) return std::nullopt;
  return UserFacts{found->first, found->second};
}

std::optional<std::string> problem_of(const UserFacts& user, const Identity& identity) {
  for (const std::uint32_t id : {user.uid, user.gid}) {
    if (id == 0) return "has root's id";
    if (id < first_person || id == nobody) return fmt::format("has the system's id {}", id);
    if (is_cell_id(identity, id)) return fmt::format("has {}, of daemon.id_range", id);
  }
  if (user.uid == identity.uid || user.gid == identity.gid) return "is the daemon's own";
  return std::nullopt;
}

std::string text_of(const IdText& id) {
  if (const auto* name = std::get_if<std::string>(&id)) return *name;
  return std::to_string(std::get<std::int64_t>(id));
}

RunAs named(const Scope& scope, const Located<IdText>& text, const RunAsRules& rules) {
  constexpr std::string_view allowed =
      "allowed: \"auto\", \"own\", \"client\", or an ordinary user (uid and primary group from "
      "1000 "
      "on)";
  RunAs run_as{RunAsKind::named, text_of(text.value)};
  if (rules.mode == RunMode::user) {
    scope.error(text.at, "run_as",
                "another user has no meaning with --user; allowed: \"auto\", \"own\", \"client\"");
    return run_as;
  }
  const auto user = find_account(text, rules.facts);
  if (!user) {
    scope.broken(text.at, "run_as",
                 fmt::format("there is no user \"{}\" here; {}", run_as.user, allowed));
    return {};
  }
  if (auto problem = problem_of(*user, rules.identity)) {
    scope.broken(text.at, "run_as", fmt::format("\"{}\" {}; {}", run_as.user, *problem, allowed));
    return {};
  }
  run_as.uid = user->uid;
  run_as.gid = user->gid;
  return run_as;
}

/// Collects who can be run as, and complains about the rest.
class Clients {
 public:
  Clients(const Scope& scope, Place at, const Identity& identity)
      : scope_(scope), at_(at), identity_(identity) {}

  void add(const ClientId& client) {
    if (const auto problem = problem_of_person(client, identity_)) {
      return left_out(client.uid, *problem);
    }
    clients_.push_back(client);
  }

  void left_out(std::uint32_t uid, std::string_view why) {
    scope_.warning(at_, "run_as", fmt::format("uid {} cannot use this server: {}", uid, why));
  }

  std::vector<ClientId> take() { return std::move(clients_); }

 private:
  const Scope& scope_;
  Place at_;
  const Identity& identity_;
  std::vector<ClientId> clients_;
};

void add_group(const Scope& scope, Place at, const GroupMembers& members, Clients& clients) {
  for (const ClientId& member : members.users) clients.add(member);
  for (const std::string& name : members.unknown) {
    scope.warning(at, "run_as",
                  fmt::format("\"{}\" cannot use this server: the group names a user who is not "
                              "found here",
                              name));
  }
}

// An explicit key's place, or that of the server's name.
Place place_of(const ServerText& text) { return text.run_as ? text.run_as->at : text.name.at; }

}  // namespace

bool is_automatic(const ServerText& text) {
  return !text.run_as || text.run_as->value == IdText("auto");
}

RunAs check_run_as(const Scope& scope, const ServerText& text, const RunAsRules& rules) {
  if (is_automatic(text)) return {};
  const auto* word = std::get_if<std::string>(&text.run_as->value);
  if (word != nullptr && *word == "own") return {};
  if (word != nullptr && *word == "client") return {.kind = RunAsKind::client};
  return named(scope, *text.run_as, rules);
}

std::vector<ClientId> clients_of(const Scope& scope, const ServerText& text, const Server& server,
                                 const RunAsRules& rules) {
  if (server.run_as.kind != RunAsKind::client) return {};
  if (rules.mode == RunMode::user) return {{rules.identity.uid, rules.identity.gid}};
  const Place at = place_of(text);
  Clients clients(scope, at, rules.identity);
  const NamedPeople people = named_people(server, rules.roles);
  for (const std::uint32_t uid : people.uids) {
    if (const auto client = account_of(uid, rules.facts)) {
      clients.add(*client);
    } else {
      clients.left_out(uid, "it has no account here, so its primary group is not known");
    }
  }
  for (const std::uint32_t gid : people.gids) {
    const auto found = rules.facts.members.find(gid);
    if (found != rules.facts.members.end()) add_group(scope, at, found->second, clients);
    if (found != rules.facts.members.end() && !found->second.users.empty()) continue;
    scope.warning(at, "run_as",
                  fmt::format("no member of group {} can be found beforehand (a directory service "
                              "may not list them), so none can use this server; better: name them "
                              "under allow.users",
                              gid));
  }
  return clients.take();
}

}  // namespace cellblock
