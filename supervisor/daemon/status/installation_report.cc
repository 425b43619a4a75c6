#include "supervisor/daemon/status/installation_report.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "policy/base/json_string.h"
#include "policy/config/command_text.h"
#include "policy/config/names.h"
#include "policy/sandbox/weakenings.h"
#include "supervisor/daemon/status/broken_parts.h"

namespace cellblock {
namespace {

/// An object whose members stand in the order in which they were added. Without a JSON library,
/// which the supervisor does not link.
class ObjectText {
 public:
  ObjectText& raw(std::string_view name, std::string_view json) {
    text_ += text_.empty() ? '{' : ',';
    text_ += json_string(name);
    text_ += ':';
    text_ += json;
    return *this;
  }
  ObjectText& text(std::string_view name, std::string_view value) {
    return raw(name, json_string(value));
  }
  ObjectText& flag(std::string_view name, bool value) {
    return raw(name, value ? "true" : "false");
  }
  ObjectText& number(std::string_view name, std::size_t value) {
    return raw(name, std::to_string(value));
  }
  std::string take() { return std::move(text_) + "}"; }

 private:
  std::string text_;
};

std::string array_of(const std::vector<std::string>& elements) {
  return fmt::format("[{}]", fmt::join(elements, ","));
}

std::string strings(std::vector<std::string> texts) {
  for (std::string& text : texts) text = json_string(text);
  return array_of(texts);
}

std::string cause_in(const std::vector<PartLeftOut>& parts, const std::string& server) {
  for (const PartLeftOut& part : parts) {
    if (part.name == "server " + server) return part.cause;
  }
  return {};
}

std::string server_json(const Server& server, const std::string& broken, const Cgroup& cgroup) {
  const char* state = broken.empty() ? "stopped" : "broken";
  ObjectText json;
  json.text("name", server.name)
      .text("state", server.enabled ? state : "disabled")
      .text("command", command_text(server.command))
      .text("network", name_of(server.network))
      .raw("weakenings", strings(weakenings_of(server, cgroup)));
  if (!broken.empty()) json.text("broken", broken);
  return json.take();
}

std::string switch_json(const InstallationState& state) {
  ObjectText json;
  json.flag("off", state.switched_off);
  if (state.switched_by) json.number("by", *state.switched_by);
  if (!state.reason.empty()) json.text("reason", state.reason);
  return json.take();
}

// Roles and tokens: what is broken of a server is said with it.
std::string parts_json(const std::vector<PartLeftOut>& broken) {
  std::vector<std::string> parts;
  for (const PartLeftOut& part : broken) {
    if (part.name.starts_with("server ")) continue;
    parts.push_back(ObjectText().text("name", part.name).text("cause", part.cause).take());
  }
  return array_of(parts);
}

std::string servers_json(const Config& config, const std::vector<PartLeftOut>& broken) {
  std::vector<std::string> servers;
  for (const Server& server : config.servers) {
    if (server.removed) continue;
    servers.push_back(server_json(server, cause_in(broken, server.name), config.cgroup));
  }
  return array_of(servers);
}

}  // namespace

std::string installation_json(const Config& config, const InstallationState& state) {
  const std::vector<PartLeftOut> broken = broken_parts(config);
  return ObjectText()
      .text("version", CELLBLOCK_VERSION)
      .text("mode", config.mode == RunMode::user ? "user" : "system")
      .flag("enabled", config.enabled && !state.switched_off)
      .raw("switch", switch_json(state))
      .raw("audit", ObjectText().flag("written", state.audit_runs).take())
      .number("users", state.users)
      .number("cells", state.cells)
      .text("last_failure", state.last_failure)
      .raw("weakenings", strings(weakenings_of(config)))
      .raw("broken", parts_json(broken))
      .raw("servers", servers_json(config, broken))
      .take();
}

}  // namespace cellblock
