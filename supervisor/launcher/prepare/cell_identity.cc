#include "supervisor/launcher/prepare/cell_identity.h"

#include <algorithm>

namespace cellblock::launcher {
namespace {

std::optional<HostIds> unless_root(HostIds ids) {
  if (ids.uid == 0 || ids.gid == 0) return std::nullopt;
  return ids;
}

std::optional<HostIds> client_ids(std::uint32_t user, const std::vector<ClientId>& clients) {
  const auto found = std::lower_bound(
      clients.begin(), clients.end(), user,
      [](const ClientId& client, std::uint32_t wanted) { return client.uid < wanted; });
  if (found == clients.end() || found->uid != user) return std::nullopt;
  return unless_root({found->uid, found->gid});
}

}  // namespace

std::optional<HostIds> declared_identity(const RunAs& run_as, std::uint32_t user,
                                         const std::vector<ClientId>& clients) {
  switch (run_as.kind) {
    case RunAsKind::own:
      break;
    case RunAsKind::client:
      return client_ids(user, clients);
    case RunAsKind::named:
      return unless_root({run_as.uid, run_as.gid});
  }
  return std::nullopt;
}

}  // namespace cellblock::launcher
