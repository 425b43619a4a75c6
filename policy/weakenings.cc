#include "policy/weakenings.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/units.h"

namespace cellblock {
namespace {

constexpr std::uint32_t anybody_may_connect = 0006;

void add_limits(const Limits& limits, std::vector<std::string>& out) {
  if (limits.enforcement == Enforcement::required) return;
  std::string unenforced;
  if (limits.memory_bytes) unenforced += ", memory";
  if (limits.cpu) unenforced += ", cpu";
  if (unenforced.empty()) return;
  out.push_back("limits.require = false (not enforced: " + unenforced.substr(2) + ")");
}

void add_client_features(const ClientFeatures& features, std::vector<std::string>& out) {
  std::string names;
  if (features.roots) names += ", \"roots\"";
  if (features.sampling) names += ", \"sampling\"";
  if (features.elicitation) names += ", \"elicitation\"";
  if (!names.empty()) out.push_back("client_features = [" + names.substr(2) + "]");
}

// It also allows tools that do not exist yet.
bool allows_every_tool(const Allow& allow) {
  return std::ranges::any_of(allow.tools, [](const ToolPattern& pattern) {
    return pattern.is_prefix && pattern.text.empty();
  });
}

}  // namespace

std::vector<std::string> weakenings_of(const Server& server) {
  std::vector<std::string> out;
  if (server.network == NetworkMode::host) out.emplace_back("network = \"host\"");
  add_limits(server.limits, out);
  add_client_features(server.client_features, out);
  if (allows_every_tool(server.allow)) out.emplace_back("allow.tools = [\"*\"]");
  return out;
}

std::vector<std::string> weakenings_of(const Config& config) {
  std::vector<std::string> out;
  if (config.mode == RunMode::user) {
    out.emplace_back(
        "--user (policy, secrets and audit log are open to this user's own processes)");
  }
  if ((config.listen.mode & anybody_may_connect) != 0) {
    out.push_back(fmt::format("socket.mode = \"{}\" (every local user may connect)",
                              mode_text(config.listen.mode)));
  }
  out.emplace_back("limits.memory, limits.cpu (this version does not enforce them)");
  return out;
}

}  // namespace cellblock
