#include "policy/config_check/start_check.h"

#include <fmt/format.h>

#include <string_view>

#include "policy/config/server_keys.h"
#include "policy/config_check/key_reader.h"

namespace cellblock {
namespace {

// Why there can be no cell that waits for any session; empty: there can.
std::string_view no_spare_cells(const Server& server) {
  if (server.workspace) return "a cell with a workspace cannot start before its session";
  if (server.cells == CellSharing::per_user) {
    return "with cells = \"per-user\" all sessions share one cell, which when = \"session\" starts "
           "early";
  }
  return {};
}

void check_warm(const Scope& scope, Place at, const Server& server) {
  const std::string_view never = no_spare_cells(server);
  if (!never.empty()) return scope.error(at, "warm", fmt::format("{}; allowed: 0", never));
  if (server.start.warm < server.max_cells_per_user) return;
  scope.error(at, "warm",
              fmt::format("leaves no session a cell; allowed: less than max_cells_per_user ({})",
                          server.max_cells_per_user));
}

}  // namespace

void check_start(const Scope& scope, const Written& written, Server& server) {
  const Scope here = scope.below("start");
  read_keys(here, written, StartTable{server.start, server.timeouts});
  if (server.start.warm > 0) check_warm(here, written.at("warm"), server);
}

}  // namespace cellblock
