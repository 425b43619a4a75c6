#include "supervisor/gateway/session/server_report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "policy/config/path_rules.h"
#include "policy/egress/egress_rule.h"
#include "policy/sandbox/io_limit_support.h"

namespace cellblock::gateway {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t shown_kinds = 8;

template <class Value>
Json held_by(const Value& value, const char* holder) {
  return {{"value", value}, {"held_by", holder}};
}

template <class Value>
void add(Json& json, const char* name, const std::optional<Value>& value, const char* holder) {
  if (value) json[name] = held_by(*value, holder);
}

const char* group_or_nothing(bool group_holds) { return group_holds ? "cgroup" : "nothing"; }

const char* io_holder(const Server& server, const Cgroup& cgroup) {
  const IoLimitSupport hold = io_hold(server, cgroup);
  return hold == IoLimitSupport::no_disk ? "no disk"
                                         : group_or_nothing(hold == IoLimitSupport::group);
}

std::string_view right_of(const RunAs& run_as) {
  switch (run_as.kind) {
    case RunAsKind::own:
      return "a dedicated uid: it gets what permissions or ACLs of the files give that uid";
    case RunAsKind::client:
      return "the connecting user";
    case RunAsKind::named:
      break;
  }
  return "the user that run_as names";
}

Json results_json(const ServerResults& results) {
  const bool is_on = results.bounds.bounding == Bounding::on;
  Json json = {{"bounds", is_on ? "on" : "off"}};
  if (is_on) json["max_bytes"] = results.bounds.max_bytes;
  Json whole = Json::array();
  for (const ToolResults& tool : results.tools) {
    if (is_on && tool.bounds.bounding == Bounding::off) whole.push_back(tool.name);
  }
  if (!whole.empty()) json["off_for"] = std::move(whole);
  return json;
}

bool is_owners(const Server& server, std::size_t bind, std::uint32_t uid) {
  return std::ranges::any_of(server.owner_mounts, [&](const OwnerMount& mount) {
    return mount.bind == bind && mount.uid == uid;
  });
}

// What runs, or the script that it runs: the first argument that is no option.
bool holds_program(const Server& server, const Bind& bind) {
  const auto is_in = [&bind](const std::string& word) { return is_at_or_below(word, bind.target); };
  if (server.command.empty()) return false;
  const auto script = std::find_if(server.command.begin() + 1, server.command.end(),
                                   [](const std::string& word) { return !word.starts_with('-'); });
  return is_in(server.command.front()) || (script != server.command.end() && is_in(*script));
}

// "as": whom the file system takes the cell for there.
Json path_json(const Server& server, std::size_t bind, const CellWhose& whose) {
  const Bind& declared = server.binds[bind];
  Json json{{"source", declared.source},
            {"target", declared.target},
            {"mode", declared.access == Access::write ? "rw" : "ro"}};
  if (holds_program(server, declared)) json["holds_program"] = true;
  if (is_owners(server, bind, whose.user.uid)) json["as"] = "client";
  const SourceAccess access = source_access(server, bind, whose.user, whose.identity);
  if (access.allowed) return json;
  json["problem"] = access.problem;
  json["remedy"] = access.remedy;
  return json;
}

}  // namespace

Json limits_json(const Server& server, const Cgroup& cgroup) {
  const Limits& limits = server.limits;
  const bool has_group = !cgroup.directory.empty();
  const char* memory_holder = group_or_nothing(has_group && cgroup.memory);
  Json json = Json::object();
  add(json, "memory", limits.memory_bytes, memory_holder);
  if (limits.memory_bytes) json["swap"] = held_by(limits.swap_bytes, memory_holder);
  add(json, "cpu", limits.cpu, group_or_nothing(has_group && cgroup.cpu));
  add(json, "io_read", limits.io_read, io_holder(server, cgroup));
  add(json, "io_write", limits.io_write, io_holder(server, cgroup));
  json["pids"] = held_by(limits.pids, has_group && cgroup.pids ? "cgroup" : "rlimit");
  json["open_files"] = held_by(limits.open_files, "rlimit");
  if (limits.file_bytes) json["file"] = held_by(*limits.file_bytes, "rlimit");
  json["tmp"] = held_by(limits.tmp_bytes, "tmpfs");
  if (server.home == HomeKind::temporary) json["home"] = held_by(limits.home_bytes, "tmpfs");
  return json;
}

Json workspace_json(const Server& server) {
  const Workspace& workspace = *server.workspace;
  return {{"allow", workspace.allow},
          {"mode", workspace.access == Access::write ? "rw" : "ro"},
          {"seen_at", workspace_directory},
          {"right", right_of(server.run_as)}};
}

std::vector<std::string> tools_in(const Rights& rights) {
  std::vector<std::string> tools;
  for (const Rule* rule : rights.giving()) {
    for (const NamePattern& tool : rule->tools) {
      std::string text = tool.text + (tool.is_prefix ? "*" : "");
      if (std::ranges::find(tools, text) == tools.end()) tools.push_back(std::move(text));
    }
  }
  return tools;
}

Json declared_json(const Server& server, const std::vector<std::string>& tools,
                   const CellWhose& whose) {
  constexpr std::array deliveries{"environment", "file", "memfd"};
  Json paths = Json::array();
  for (std::size_t i = 0; i < server.binds.size(); ++i)
    paths.push_back(path_json(server, i, whose));
  Json names = Json::array();
  for (const auto& variable : server.environment) names.push_back(variable.name);
  Json secrets = Json::array();
  for (const auto& secret : server.secrets) {
    const auto kind = deliveries.at(static_cast<std::size_t>(secret.delivery));
    secrets.push_back({{"name", secret.name}, {"kind", kind}});
  }
  return {{"paths", std::move(paths)},
          {"environment", std::move(names)},
          {"secrets", std::move(secrets)},
          {"tools", tools},
          {"execute_writable", server.execute_writable},
          {"results", results_json(server.results)}};
}

Json egress_json(const Egress& egress, const EgressTotals& totals) {
  Json allow = Json::array();
  for (const EgressRule& rule : egress.allow) allow.push_back(cellblock::text_of(rule));
  Json refused = Json::object();
  for (const auto& [reason, count] : totals.refused) refused[std::string(reason)] = count;
  Json json{{"allow", std::move(allow)}, {"max_connections", egress.max_connections}};
  if (egress.max_bytes) json["max_bytes"] = *egress.max_bytes;
  if (egress.proxy_port) json["proxy"] = *egress.proxy_port;
  json["connections_total"] = totals.connections;
  json["sent"] = totals.sent;
  json["received"] = totals.received;
  json["refused"] = std::move(refused);
  return json;
}

Json denied_kinds_json(const DeniedLog& denied) {
  Json json = Json::array();
  for (const DeniedLog::Kind& kind : denied.most(shown_kinds)) {
    json.push_back({{"what", kind.what},
                    {"count", kind.count},
                    {"reason", kind.reason},
                    {"allow", kind.allow}});
  }
  return json;
}

}  // namespace cellblock::gateway
