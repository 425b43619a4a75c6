#include "policy/config_check/identity_choice.h"

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

}  // namespace cellblock
