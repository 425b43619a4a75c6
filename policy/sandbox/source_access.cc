#include "policy/sandbox/source_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "policy/config/host_facts.h"

namespace cellblock {
namespace {

std::string_view verb_of(Access access) { return access == Access::write ? "write" : "read"; }

const OwnerMount* mount_of(const Server& server, std::size_t bind, std::uint32_t uid) {
  const auto found = std::ranges::find_if(server.owner_mounts, [&](const OwnerMount& mount) {
    return mount.bind == bind && mount.uid == uid;
  });
  return found == server.owner_mounts.end() ? nullptr : &*found;
}

// Whom the file system takes the cell for at this bind.
PathRights cell_rights(const Server& server, std::size_t bind, const CellClient& user,
                       const Identity& identity) {
  const SourceOwnership& source = server.ownership[bind];
  switch (server.run_as.kind) {
    case RunAsKind::client:
      return rights_of(source, user.uid, user.gid);
    case RunAsKind::named:
      return rights_of(source, server.run_as.uid, server.run_as.gid);
    case RunAsKind::own:
      break;
  }
  if (identity.cell_ids == 1) return rights_of(source, identity.uid, identity.gid);
  const OwnerMount* mount = mount_of(server, bind, user.uid);
  return mount != nullptr ? rights_of(source, mount->uid, mount->gid) : source.of_stranger;
}

std::string owner_text(const SourceOwnership& source, const CellClient& user) {
  const std::string name_and_mode = fmt::format("({}, {:04o})", source.owner, source.mode);
  if (source.uid == user.uid) return "its mode does not allow it " + name_and_mode;
  if (source.uid < first_person) return "it belongs to the system " + name_and_mode;
  return "it belongs to another user " + name_and_mode;
}

std::string remedy_for(const Server& server, const Bind& bind, const SourceOwnership& source,
                       const CellClient& user) {
  const std::string_view verb = verb_of(bind.access);
  if (source.uid == user.uid && server.run_as.kind != RunAsKind::client &&
      suffices(source.of_owner, bind.access)) {
    return "set run_as = \"auto\" or leave it out, so that the cell has its client's rights there; "
           "where no path can be mounted for its owner (cellblock doctor), set run_as = \"client\"";
  }
  if (source.uid == user.uid) {
    return fmt::format("change the mode of {}, or declare it under read", bind.source);
  }
  if (source.uid < first_person) {
    return fmt::format("give {} to the user whose files they are (chown), or let others {} it",
                       bind.source, verb);
  }
  return fmt::format("declare a directory of the user's own, or let others {} {} (chmod, setfacl)",
                     verb, bind.source);
}

}  // namespace

CellClient cell_client(std::uint32_t uid, const Config& config) {
  const auto client = std::ranges::find(config.clients, uid, &ClientId::uid);
  return {uid, client == config.clients.end() ? uid : client->gid};
}

PathRights rights_of(const SourceOwnership& source, std::uint32_t uid, std::uint32_t gid) {
  if (uid == source.uid) return source.of_owner;
  return gid == source.gid ? source.of_group : source.of_stranger;
}

bool suffices(const PathRights& rights, Access access) {
  return rights.read && (access == Access::read || rights.write);
}

SourceAccess source_access(const Server& server, std::size_t bind, const CellClient& user,
                           const Identity& identity) {
  if (bind >= server.ownership.size() || !server.ownership[bind].known) return {};
  const Bind& declared = server.binds[bind];
  const SourceOwnership& source = server.ownership[bind];
  if (suffices(cell_rights(server, bind, user, identity), declared.access)) return {};
  return {.allowed = false,
          .problem = fmt::format("{} {}: no, {}", verb_of(declared.access), declared.source,
                                 owner_text(source, user)),
          .remedy = remedy_for(server, declared, source, user)};
}

}  // namespace cellblock
