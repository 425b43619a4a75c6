#include "policy/config_check/run_as_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "policy/sandbox/source_access.h"

namespace cellblock {
namespace {

RunAs as_client(std::string reason) {
  return {.kind = RunAsKind::client, .reason = std::move(reason)};
}

std::string needs_owner(const Bind& bind, const SourceOwnership& source) {
  return fmt::format("{} {} needs its owner ({}, {:04o})",
                     bind.access == Access::write ? "write" : "read", bind.source, source.owner,
                     source.mode);
}

// Rootless cells have an id that /etc/subuid gives; no mount can have another owner there.
IdentityChoice choose_rootless(const Server& server, const Identity& identity) {
  for (std::size_t i = 0; i < server.ownership.size(); ++i) {
    const SourceOwnership& source = server.ownership[i];
    const Access access = server.binds[i].access;
    if (!source.known || suffices(source.of_stranger, access)) continue;
    if (source.uid != identity.uid || !suffices(source.of_owner, access)) continue;
    return {as_client(needs_owner(server.binds[i], source)), {}};
  }
  return {};
}

class OwnerMounts {
 public:
  OwnerMounts(const Server& server, const AllowedPeople& people, const Identity& identity,
              const HostFacts& facts)
      : server_(server), people_(people), identity_(identity), facts_(facts) {}

  /// Of the binds that belong to one of the people; the reason for the client's id where one is
  /// needed and cannot be had.
  std::optional<std::string> add_all() {
    for (std::size_t i = 0; i < server_.ownership.size(); ++i) {
      const Person* owner = owner_of(server_.ownership[i]);
      if (owner == nullptr) continue;
      if (auto reason = add(i, *owner)) return reason;
    }
    return std::nullopt;
  }

  std::vector<OwnerMount> take() {
    std::ranges::sort(mounts_, {},
                      [](const OwnerMount& mount) { return std::tie(mount.uid, mount.bind); });
    return std::move(mounts_);
  }

 private:
  const Person* owner_of(const SourceOwnership& source) const {
    if (!source.known) return nullptr;
    const auto found = std::ranges::find(people_.here, source.uid, &Person::uid);
    if (found == people_.here.end() || !found->gid) return nullptr;
    return problem_of_person({source.uid, *found->gid}, identity_) ? nullptr : &*found;
  }

  std::optional<std::string> add(std::size_t bind, const Person& owner) {
    const SourceOwnership& source = server_.ownership[bind];
    const Access access = server_.binds[bind].access;
    const auto& facts = facts_.sources.find(server_.binds[bind].source)->second;
    if (facts.id_mapping != IdMapping::impossible) {
      mounts_.push_back(
          {.bind = static_cast<std::uint32_t>(bind), .uid = owner.uid, .gid = *owner.gid});
      return std::nullopt;
    }
    // Where others use the server too, what one of them does with a path is no reason for their
    // cells.
    const bool needs_it = people_.is_one() && !suffices(source.of_stranger, access) &&
                          suffices(source.of_owner, access);
    if (!needs_it) return std::nullopt;
    return fmt::format("{}, and it cannot be mounted with another owner: {}",
                       needs_owner(server_.binds[bind], source), facts.no_id_mapping);
  }

  const Server& server_;
  const AllowedPeople& people_;
  const Identity& identity_;
  const HostFacts& facts_;
  std::vector<OwnerMount> mounts_;
};

}  // namespace

IdentityChoice choose_identity(const Server& server, const AllowedPeople& people, RunMode mode,
                               const Identity& identity, const HostFacts& facts, std::size_t room) {
  if (server.workspace) {
    return {as_client("a workspace belongs to the client, as a rule"), {}};
  }
  if (mode == RunMode::user) return choose_rootless(server, identity);
  OwnerMounts mounts(server, people, identity, facts);
  if (auto reason = mounts.add_all()) return {as_client(std::move(*reason)), {}};
  std::vector<OwnerMount> added = mounts.take();
  if (added.size() > room && !people.is_one()) return {};  // cells are strangers there
  if (added.size() > room) {
    return {as_client(fmt::format("more than {} declared paths belong to users, so not all can be "
                                  "mounted with another owner",
                                  max_owner_mounts)),
            {}};
  }
  return {{}, std::move(added)};
}

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
    if (id < first_person || id == nobody_uid) return fmt::format("has the system's id {}", id);
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
