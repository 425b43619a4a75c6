#include "supervisor/daemon/status/installation_report.h"

#include "policy/base/json_members.h"

namespace cellblock {
namespace {

std::string switch_json(const InstallationState& state) {
  JsonMembers json;
  json.flag("off", state.switched_off);
  if (state.switched_by) json.number("by", *state.switched_by);
  if (!state.reason.empty()) json.text("reason", state.reason);
  return json.object();
}

}  // namespace

std::string installation_json(const Config& config, const InstallationState& state,
                              std::string_view declared) {
  return JsonMembers()
      .text("version", CELLBLOCK_VERSION)
      .text("mode", config.mode == RunMode::user ? "user" : "system")
      .flag("enabled", config.enabled && !state.switched_off)
      .raw("switch", switch_json(state))
      .raw("audit",
           JsonMembers().flag("written", state.audit_runs).text("log", config.audit_log).object())
      .number("users", state.users)
      .number("cells", state.cells)
      .text("last_failure", state.last_failure)
      .append(declared)
      .object();
}

}  // namespace cellblock
