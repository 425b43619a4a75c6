#include "supervisor/loader/report/declared_parts.h"

#include <vector>

#include "policy/base/json_members.h"
#include "policy/config/broken_parts.h"
#include "policy/config/command_text.h"
#include "policy/config/names.h"
#include "policy/sandbox/weakenings.h"

namespace cellblock {
namespace {

std::string cause_in(const std::vector<PartLeftOut>& parts, const std::string& server) {
  for (const PartLeftOut& part : parts) {
    if (part.name == "server " + server) return part.cause;
  }
  return {};
}

std::string server_json(const Server& server, const std::string& broken, const Cgroup& cgroup) {
  const char* state = broken.empty() ? "stopped" : "broken";
  JsonMembers json;
  json.text("name", server.name)
      .text("state", server.enabled ? state : "disabled")
      .text("command", command_text(server.command))
      .text("network", name_of(server.network))
      .raw("weakenings", json_strings(weakenings_of(server, cgroup)));
  if (!broken.empty()) json.text("broken", broken);
  return json.object();
}

// Broken roles and tokens. A broken server has its cause in its own row.
std::string parts_json(const std::vector<PartLeftOut>& broken) {
  std::vector<std::string> parts;
  for (const PartLeftOut& part : broken) {
    if (part.name.starts_with("server ")) continue;
    parts.push_back(JsonMembers().text("name", part.name).text("cause", part.cause).object());
  }
  return json_array(parts);
}

std::string servers_json(const Config& config, const std::vector<PartLeftOut>& broken) {
  std::vector<std::string> servers;
  for (const Server& server : config.servers) {
    if (server.removed) continue;
    servers.push_back(server_json(server, cause_in(broken, server.name), config.cgroup));
  }
  return json_array(servers);
}

}  // namespace

std::string declared_parts(const Config& config) {
  const std::vector<PartLeftOut> broken = broken_parts(config);
  return JsonMembers()
      .raw("weakenings", json_strings(weakenings_of(config)))
      .raw("broken", parts_json(broken))
      .raw("servers", servers_json(config, broken))
      .members();
}

}  // namespace cellblock
