#include <cstddef>
#include <utility>

#include "policy/base/server_set.h"
#include "policy/reload/merge.h"
#include "supervisor/gateway/gateway.h"
#include "supervisor/ipc/sealed_config.h"

/// Another configuration, while sessions are open. See docs/decisions/0037.
namespace cellblock::gateway {
namespace {

ServerSet servers_in(const Difference& changes, const Config& config) {
  ServerSet changed;
  for (const ChangedServer& server : changes.servers) changed.add(server.index);
  // What holds for all: roles, bounds of calls.
  for (std::size_t i = 0; !changes.keys.empty() && i < config.servers.size(); ++i) changed.add(i);
  return changed;
}

}  // namespace

// In this order: nothing that is still sized or made by the old configuration may be asked about a
// server of the new one, and no session acts before the rules of all sessions are the new ones.
void Gateway::reconfigure(const Fd& sealed) {
  auto fresh = read_sealed_config(sealed.get());
  if (!fresh) return give_up_on("the supervisor", "sent a configuration that cannot be read");
  const Difference changes = difference(config_, *fresh);
  // What they were started with, short secrets among it, may have changed where no difference is
  // seen.
  for (std::uint32_t i = 0; i < config_.servers.size(); ++i) spares_.replace(i);
  if (changes.empty()) return;
  take_over(config_, std::move(*fresh));
  for (const auto& [connection, session] : sessions_) session->renew_rules();
  gate_.add_new(config_);
  policy_.reconfigure();
  for (const ChangedServer& changed : changes.servers) reconfigure(changed);
  spares_.look_again();
  reconfigure_sessions(changes);
}

void Gateway::reconfigure(const ChangedServer& changed) {
  const std::uint32_t server = changed.index;
  const bool is_new = changed.what == ServerChange::added;
  const bool is_back =
      changed.what == ServerChange::returned || changed.what == ServerChange::mended;
  const bool needs_cells = changed.what == ServerChange::cell;
  if (is_new) catalogues_.put_back(server);
  if (is_back || needs_cells) {
    // What it offered was another program's, or said to another host.
    catalogues_.forget_server(server);
    gate_.reset(server);
  }
  if (is_new || is_back || changed.is_pinned_otherwise) pins_.begin_anew(server);
  shown_.reconfigure(server);
  if (needs_cells) shared_.replace_cells(server);
  if (!config_.servers[server].is_usable()) shared_.stop(server);
}

void Gateway::reconfigure_sessions(const Difference& changes) {
  const ServerSet changed = servers_in(changes, config_);
  for (const auto& [connection, session] : sessions_) session->reconfigure(changed);
  for (const ChangedServer& server : changes.servers) {
    if (server.what != ServerChange::cell) continue;
    for (const auto& [connection, session] : sessions_) session->replace_cells(server.index);
  }
}

}  // namespace cellblock::gateway
