#include "supervisor/gateway/session/status_report.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "policy/audit/chain.h"
#include "policy/config/command_text.h"
#include "policy/config/names.h"
#include "policy/config/path_rules.h"
#include "policy/egress/egress_rule.h"
#include "policy/failures/end_verdict.h"
#include "policy/sandbox/weakenings.h"
#include "policy/syscalls/syscall_policy.h"
#include "supervisor/gateway/catalogue/catalogue_report.h"
#include "supervisor/gateway/message/json_tree.h"

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

// The program, or the script that it runs: the first argument that is no option.
bool holds_program(const Server& server, const Bind& bind) {
  const auto is_in = [&bind](const std::string& word) { return is_at_or_below(word, bind.target); };
  if (server.command.empty()) return false;
  const auto script = std::find_if(server.command.begin() + 1, server.command.end(),
                                   [](const std::string& word) { return !word.starts_with('-'); });
  return is_in(server.command.front()) || (script != server.command.end() && is_in(*script));
}

// "as": the identity of the cell for the file system there.
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

namespace {

// The rank of a state: the cell with the highest stands for its server. Cells of probes and surveys
// do not count; a spare one counts if there is no other.
int rank_of(const CellRow& cell) {
  if (cell.program != wire::CellProgram::server) return -1;
  if (cell.spare) return cell.state == CellState::handshaking ? 0 : -1;
  if (cell.state == CellState::ready) return 4;
  if (cell.state == CellState::handshaking) return 3;
  const std::string_view name = public_name_of(cell.state);
  if (name == "starting") return 2;
  return name == "draining" ? 1 : 0;
}

// A server whose tools cannot be listed has failed, even if no session has tried it since.
bool is_failed(const ServerRow& row) {
  const CatalogueView& catalogue = row.catalogue;
  const bool is_listed = catalogue.kept != nullptr && !catalogue.expired;
  return (catalogue.failed != nullptr && !is_listed) ||
         (row.last_end != nullptr && is_crash(row.last_end->failure.verdict));
}

// A spare cell need not have made its handshake.
std::string_view state_of(const CellRow& cell) {
  if (cell.spare && cell.state == CellState::handshaking) return "spare";
  return public_name_of(cell.state);
}

// A missing command is tried at each start; if a cell has ended well, the command was found.
std::string breakage_of(const ServerRow& row) {
  const Server& server = *row.server;
  if (server.breakage.is_broken()) return text_of(server.breakage);
  if (!server.found.broken.empty()) return server.found.broken;
  const bool has_run = row.last_end != nullptr && !is_crash(row.last_end->failure.verdict);
  return has_run ? std::string() : server.found.no_command;
}

std::string_view state_of(const ServerRow& row) {
  const auto best = std::ranges::max_element(row.cells, {}, rank_of);
  if (best != row.cells.end() && rank_of(*best) >= 0) return state_of(*best);
  if (!row.server->enabled) return "disabled";
  if (!breakage_of(row).empty()) return "broken";
  if (row.life != nullptr && row.life->state() == LifeState::quarantined) return "quarantined";
  if (is_failed(row)) return "failed";
  return row.catalogue.surveying ? "surveying" : "stopped";
}

std::string_view name_of(wire::CellProgram program) {
  switch (program) {
    case wire::CellProgram::server:
      break;
    case wire::CellProgram::probe:
      return "probe";
    case wire::CellProgram::survey:
      return "survey";
  }
  return "server";
}

Json counts_json(const FoundCounts* found) {
  Json json = Json::object();
  if (found == nullptr) return json;
  for (const auto& [name, count] : *found) json[name] = count;
  return json;
}

Json json_of(const std::vector<Label>& labels) {
  Json json = Json::object();
  for (const Label& label : labels) json[label.name] = label.value;
  return json;
}

Json sessions_of(const CellRow& cell) {
  Json sessions = Json::array();
  if (cell.session != 0) sessions.push_back(std::to_string(cell.session));
  for (const std::uint64_t session : cell.sessions) sessions.push_back(std::to_string(session));
  return sessions;
}

Json json_of(const wire::CellPressure& pressure) {
  Json json = Json::object();
  const auto add = [&json](const char* name, std::uint32_t hundredths) {
    if (hundredths != wire::pressure_unknown) json[name] = hundredths / 100.0;
  };
  add("memory", pressure.memory);
  add("cpu", pressure.cpu);
  add("io", pressure.io);
  return json;
}

void add_usage(const wire::CellUsage& usage, Json& json) {
  if (usage.memory != 0) json["memory_bytes"] = usage.memory;
  if (usage.memory_peak != 0) json["memory_peak_bytes"] = usage.memory_peak;
  if (usage.cpu_microseconds != 0) json["cpu_ms"] = usage.cpu_microseconds / 1000;
  if (usage.tasks != 0) json["processes"] = usage.tasks;
  if (Json pressure = json_of(usage.pressure); !pressure.empty()) {
    json["pressure"] = std::move(pressure);
  }
}

Json json_of(const CellRow& cell) {
  Json json{{"cell", std::to_string(cell.cell)},
            {"session", std::to_string(cell.session)},
            {"sessions", sessions_of(cell)},
            {"state", state_of(cell)},
            {"spare", cell.spare},
            {"uptime_ms", cell.uptime_ms},
            {"program", name_of(cell.program)},
            {"workspace", cell.workspace},
            {"revival", cell.revival},
            {"labels", json_of(cell.labels)},
            {"calls", cell.traffic.calls},
            {"noise_lines", cell.noise_lines},
            {"malformed_lines", cell.malformed_lines},
            {"late_answers", cell.traffic.late_answers},
            {"foreign_answers", cell.traffic.foreign_answers},
            {"stray_notifications", cell.traffic.stray_notifications}};
  add_usage(cell.usage, json);
  return json;
}

Json json_of(const LastEnd& end) {
  return {{"verdict", end.failure.verdict},
          {"cause", end.failure.cause},
          {"at_ms", end.at_ms},
          {"facts", Json::parse(facts_json(end.failure.facts), nullptr, false)},
          {"stderr", end.failure.stderr_tail}};
}

Json json_of(const ServerRow& row, const Config& config, const CellClient& user) {
  const Cgroup& cgroup = config.cgroup;
  const Server& server = *row.server;
  Json cells = Json::array();
  for (const CellRow& cell : row.cells) cells.push_back(json_of(cell));
  Json json{{"name", server.name},
            {"state", state_of(row)},
            {"command", command_text(server.command)},
            {"profile", profile_name(server.syscalls)},
            {"network", name_of(server.network)},
            {"era", name_of(server.era)},
            {"run_as", run_as_name(server.run_as)},
            {"run_as_reason", server.run_as.reason},
            {"home", name_of(server.home)},
            {"sharing", server.cells == CellSharing::per_user ? "per-user" : "per-session"},
            {"write_exec", name_of(written_code(server.syscalls))},
            {"limits", limits_json(server, cgroup)},
            {"weakenings", weakenings_of(server, cgroup)},
            {"cells", std::move(cells)}};
  static const ServerIncidents nothing_yet;
  const ServerIncidents& ledger = row.ledger == nullptr ? nothing_yet : *row.ledger;
  if (std::string why = breakage_of(row); !why.empty()) json["broken"] = std::move(why);
  json["declared"] = declared_json(server, row.tools, {user, config.identity});
  if (!server.image.empty()) json["image"] = server.image;
  if (server.workspace) json["workspace"] = workspace_json(server);
  if (server.network == NetworkMode::egress) {
    json["egress"] = egress_json(server.egress, ledger.egress);
  }
  json["denied"] = denied_kinds_json(ledger.denied);
  json["denied_total"] = ledger.denied.total();
  if (row.last_end != nullptr) json["last_end"] = json_of(*row.last_end);
  if (row.life != nullptr) {
    json["life"] = {{"state", name_of(row.life->state())}, {"failures", row.life->run()}};
  }
  json["catalogue"] = catalogue_json(row.catalogue);
  json["found"] = {{"to_server", counts_json(row.found_to_server)},
                   {"to_host", counts_json(row.found_to_host)}};
  if (row.pins != nullptr) json["pins"] = pins_json(*row.pins);
  return json;
}

Json cgroup_json(const Cgroup& cgroup) {
  Json missing = Json::array();
  const bool has_group = !cgroup.directory.empty();
  for (const auto& [name, present] : {std::pair{"memory", cgroup.memory},
                                      {"pids", cgroup.pids},
                                      {"cpu", cgroup.cpu},
                                      {"io", cgroup.io}}) {
    if (!has_group || !present) missing.push_back(name);
  }
  return {{"directory", cgroup.directory},
          {"missing", std::move(missing)},
          {"because", cgroup.missing_because}};
}

// In the form that `cellblock audit verify --anchor` takes.
Json json_of(const AuditHealth& audit) {
  Json json{{"written", audit.log == LogHealth::written}, {"waiting", audit.waiting}};
  if (audit.last.sequence > 0) {
    json["anchor"] = std::to_string(audit.last.sequence) + ":" + audit::hex_of(audit.last.hash);
  }
  return json;
}

// Leaves out other users' tokens, even their names.
Json http_json(const HttpListen& listen, const HttpUse& use) {
  Json tokens = Json::array();
  for (const HttpToken& token : listen.tokens) {
    if (token.uid == use.uid && !token.revoked) tokens.push_back(token.name);
  }
  return {{"address", tcp_address(listen)},
          {"socket", listen.socket},
          {"tokens", std::move(tokens)},
          {"connections", use.connections}};
}

Json broken_json(const std::vector<BrokenPart>& parts) {
  Json list = Json::array();
  for (const BrokenPart& part : parts) {
    list.push_back({{"name", part.name}, {"cause", text_of(part.breakage)}});
  }
  return list;
}

}  // namespace

std::string status_json(const Config& config, const std::vector<ServerRow>& servers,
                        const HttpUse& http, const AuditHealth& audit, Reach reach) {
  Json list = Json::array();
  const CellClient user = cell_client(http.uid, config);
  for (const ServerRow& row : servers) list.push_back(json_of(row, config, user));
  Json json{{"version", CELLBLOCK_VERSION},
            {"mode", config.mode == RunMode::user ? "user" : "system"},
            {"enabled", config.enabled},
            {"weakenings", weakenings_of(config)},
            {"kernel_lacks", landlock_lacks(config.kernel.landlock_abi)},
            {"landlock_abi", config.kernel.landlock_abi},
            {"cgroup", cgroup_json(config.cgroup)}};
  json["audit"] = json_of(audit);
  if (config.http) json["http"] = http_json(*config.http, http);
  if (reach == Reach::everything && !config.broken.empty()) {
    json["broken"] = broken_json(config.broken);
  }
  json["servers"] = std::move(list);
  return dump_json(json);
}

std::string logs_json(const StderrPage& page) {
  Json list = Json::array();
  for (const StderrLine* line : page.lines) {
    list.push_back(
        {{"cell", std::to_string(line->cell)}, {"at_ms", line->at_ms}, {"text", line->text}});
  }
  return dump_json({{"lines", std::move(list)}, {"next", page.next}, {"missed", page.missed}});
}

namespace {

std::string_view word_of(NoRemedy why) {
  if (why == NoRemedy::harmless) return "harmless";
  return why == NoRemedy::allowed ? "allowed" : "none_known";
}

}  // namespace

std::string denied_json(const std::vector<const Denied*>& denied) {
  Json list = Json::array();
  for (const Denied* one : denied) {
    list.push_back({{"cell", std::to_string(one->cell)},
                    {"at_ms", one->at_ms},
                    {"what", one->what},
                    {"count", one->count},
                    {"reason", one->reason},
                    {"allow", one->allow}});
    if (one->allow.empty()) list.back()["no_remedy"] = word_of(one->no_remedy);
  }
  return dump_json({{"denied", std::move(list)}});
}

std::string stopped_json(std::size_t cells) { return dump_json({{"stopped", cells}}); }

}  // namespace cellblock::gateway
