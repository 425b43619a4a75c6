#include <optional>

#include "supervisor/ipc/sealed_config.h"
#include "supervisor/launcher/run/cell_factory.h"

namespace cellblock::launcher {
namespace {

using wire::ReloadRefusal;

std::unexpected<NotReloaded> refuse(ReloadRefusal refusal) {
  return std::unexpected(NotReloaded{.refusal = refusal});
}

std::unexpected<NotReloaded> not_prepared(const Unprepared& why) {
  return std::unexpected(
      NotReloaded{.refusal = ReloadRefusal::not_prepared, .failure = why.failure});
}

/// What cells are started from, and what was prepared for it.
struct Prepared {
  const Config& config;
  const Preparation& made;
};

// For the same declaration that is in use: nothing gets worse for it.
bool was_broken(const Prepared& now, const Server& server, std::uint32_t index) {
  if (index >= now.made.servers.size() || !failure_of(now.made.servers[index])) return false;
  const Server& before = now.config.servers[index];
  return before.enabled && before.binds == server.binds && before.workspace == server.workspace;
}

// One that may not be started harms nobody. What somebody without rights can break keeps nothing
// from being reloaded: that server alone is broken then.
std::optional<NotReloaded> first_worse(const Prepared& now, const Prepared& next) {
  for (std::uint32_t i = 0; i < next.made.servers.size(); ++i) {
    const auto broken = failure_of(next.made.servers[i]);
    const Server& server = next.config.servers[i];
    if (!broken || !server.is_usable() || server.found.others_can_change) continue;
    if (was_broken(now, server, i)) continue;
    return NotReloaded{ReloadRefusal::not_prepared, i, *broken};
  }
  return std::nullopt;
}

}  // namespace

std::expected<void, NotReloaded> CellFactory::reload(int config_bytes, Fd secrets, Fd mounts,
                                                     Fd owner_mounts) {
  auto next = read_sealed_config(config_bytes);
  if (!next) return refuse(ReloadRefusal::unreadable);
  SecretStore next_secrets(std::move(secrets));
  if (!next_secrets.fits(*next)) return refuse(ReloadRefusal::unreadable);
  const ReloadRefusal refusal = refusal_of(at_start_, config_, *next);
  if (refusal != ReloadRefusal::none) return refuse(refusal);
  const auto host = HostTree::of(std::move(mounts));
  if (!host) return not_prepared(host.error());
  const std::uint64_t number = 3 - number_;
  if (const auto reserved = reserve_owner_ids(base_.state, *next); !reserved) {
    return refuse(ReloadRefusal::id_taken);
  }
  auto made = prepare_cells(*next, {*host, owner_mounts.get(), made_.owners}, programs_, number);
  if (!made) return not_prepared(made.error());
  if (const auto worse = first_worse({config_, made_}, {*next, *made})) {
    return std::unexpected(*worse);
  }
  config_ = std::move(*next);
  made_ = std::move(*made);
  number_ = number;
  secrets_ = std::move(next_secrets);
  return {};
}

}  // namespace cellblock::launcher
