#include "supervisor/daemon/report/installation_report.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "policy/config/command_text.h"
#include "policy/config/names.h"
#include "policy/sandbox/weakenings.h"
#include "supervisor/daemon/report/check_report.h"

namespace cellblock {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string cause_in(const std::vector<PartLeftOut>& parts, const std::string& server) {
  for (const PartLeftOut& part : parts) {
    if (part.name == "server " + server) return part.cause;
  }
  return {};
}

OrderedJson server_json(const Server& server, const std::string& broken, const Cgroup& cgroup) {
  const char* state = broken.empty() ? "stopped" : "broken";
  OrderedJson json{{"name", server.name},
                   {"state", server.enabled ? state : "disabled"},
                   {"command", command_text(server.command)},
                   {"network", name_of(server.network)},
                   {"weakenings", weakenings_of(server, cgroup)}};
  if (!broken.empty()) json["broken"] = broken;
  return json;
}

OrderedJson switch_json(const InstallationState& state) {
  OrderedJson json{{"off", state.switched_off}};
  if (state.switched_by) json["by"] = *state.switched_by;
  if (!state.reason.empty()) json["reason"] = state.reason;
  return json;
}

}  // namespace

std::string installation_json(const Config& config, const InstallationState& state) {
  const std::vector<PartLeftOut> broken = broken_parts(config);
  OrderedJson parts = OrderedJson::array();
  for (const PartLeftOut& part : broken) {
    if (part.name.starts_with("server ")) continue;
    parts.push_back({{"name", part.name}, {"cause", part.cause}});
  }
  OrderedJson servers = OrderedJson::array();
  for (const Server& server : config.servers) {
    if (server.removed) continue;
    servers.push_back(server_json(server, cause_in(broken, server.name), config.cgroup));
  }
  const OrderedJson json{{"version", CELLBLOCK_VERSION},
                         {"mode", config.mode == RunMode::user ? "user" : "system"},
                         {"enabled", config.enabled && !state.switched_off},
                         {"switch", switch_json(state)},
                         {"audit", {{"written", state.audit_runs}}},
                         {"users", state.users},
                         {"cells", state.cells},
                         {"last_failure", state.last_failure},
                         {"weakenings", weakenings_of(config)},
                         {"broken", std::move(parts)},
                         {"servers", std::move(servers)}};
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace cellblock
