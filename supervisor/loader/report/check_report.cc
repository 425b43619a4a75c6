#include "supervisor/loader/report/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "policy/base/printable.h"
#include "policy/base/units.h"
#include "policy/config/names.h"
#include "policy/egress/egress_rule.h"
#include "policy/sandbox/weakenings.h"
#include "policy/syscalls/syscall_policy.h"
#include "supervisor/loader/report/run_identity.h"

namespace cellblock {
namespace {

std::string counted(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string lines_of(const std::vector<Complaint>& complaints) {
  std::string text;
  for (const Complaint& complaint : complaints) text += to_line(complaint) + "\n";
  return text;
}

std::string weakening_lines(std::string_view indent, const std::vector<std::string>& weakenings) {
  std::string text;
  for (const std::string& weakening : weakenings) {
    text += fmt::format("{}weakened: {}\n", indent, weakening);
  }
  return text;
}

std::string egress_line(const Server& server) {
  if (server.network != NetworkMode::egress) return {};
  std::string rules;
  for (const EgressRule& rule : server.egress.allow) rules += ", " + text_of(rule);
  return fmt::format("    reaches {}\n", rules.substr(2));
}

std::string workspace_line(const Server& server) {
  if (!server.workspace) return {};
  return fmt::format("    workspace {} {}\n",
                     server.workspace->access == Access::write ? "rw" : "ro",
                     fmt::join(server.workspace->allow, ", "));
}

std::string profile_text(const SyscallRules& rules) {
  std::string text(profile_name(rules));
  const std::size_t edits = rules.allow.size() + rules.refuse.size();
  if (edits > 0) text += fmt::format(" ({} and {})", name_of(rules.base), counted(edits, "change"));
  return text;
}

template <class T, class U>
void add_all(std::set<T>& to, const U& from) {
  for (const auto& one : from) to.insert(one);
}

// The names in all rules together, each once.
std::string rules_text(const std::vector<Rule>& rules) {
  std::set<std::uint32_t> users;
  std::set<std::uint32_t> groups;
  std::set<std::pair<std::string, bool>> tools;
  for (const Rule& rule : rules) {
    add_all(users, rule.uids);
    add_all(groups, rule.gids);
    for (const NamePattern& tool : rule.tools) tools.emplace(tool.text, tool.is_prefix);
  }
  const bool has_only_short_form = rules.size() == 1 && rules.front().name == "allow";
  std::string text =
      fmt::format("{}, {}, {}", counted(users.size(), "user"), counted(groups.size(), "group"),
                  counted(tools.size(), "tool pattern"));
  if (!has_only_short_form) text += ", " + counted(rules.size(), "rule");
  return text;
}

// Arguments of a command are not shown.
std::string secret_lines(const Server& server, const Identity& identity) {
  std::string text;
  for (const SecretVariable& secret : server.secrets) {
    if (secret.origin == SecretOrigin::credential) {
      text += fmt::format("    secret {}: the credential \"{}\" of the service\n", secret.name,
                          secret.from);
    } else if (secret.command) {
      text +=
          fmt::format("    secret {}: what {} prints at start, as uid {}, within {}; not run now\n",
                      secret.name, printable(secret.command->argv.front()), identity.uid,
                      duration_text(secret.command->timeout));
    }
  }
  return text;
}

std::string lines_of(const Server& server, const Config& config) {
  const Cgroup& cgroup = config.cgroup;
  if (server.breakage.is_broken()) {
    return fmt::format("  {}: left out, {}\n", server.name, rules_text(server.rules));
  }
  std::string text =
      fmt::format("  {}: {}{}, profile {}, network {}, era {}, {}, {}\n", server.name,
                  server.command.front(), server.command_stamp ? " (sha256 compared)" : "",
                  profile_text(server.syscalls), name_of(server.network), name_of(server.era),
                  counted(server.binds.size(), "path"), rules_text(server.rules));
  text +=
      fmt::format("    runs as {}, home {}, code written at run time {}, {}\n",
                  run_identity(server, config.mode), name_of(server.home),
                  name_of(written_code(server.syscalls)), counted(server.secrets.size(), "secret"));
  if (!server.image.empty()) text += fmt::format("    in the image {}\n", server.image);
  text += secret_lines(server, config.identity) + egress_line(server) + workspace_line(server);
  return text + weakening_lines("    ", weakenings_of(server, cgroup));
}

std::string cgroup_line(const Cgroup& cgroup) {
  if (cgroup.directory.empty()) return "  control groups: none\n";
  std::string controllers;
  if (cgroup.memory) controllers += ", memory";
  if (cgroup.pids) controllers += ", pids";
  if (cgroup.cpu) controllers += ", cpu";
  if (cgroup.io) controllers += ", io";
  return fmt::format("  control groups: {}{}\n", cgroup.directory, controllers);
}

std::string kernel_lines(const Kernel& kernel) {
  std::string text = fmt::format("  Landlock: ABI {}\n", kernel.landlock_abi);
  for (const std::string& lack : landlock_lacks(kernel.landlock_abi)) {
    text += fmt::format("    {}\n", lack);
  }
  return text;
}

std::string http_line(const std::optional<HttpListen>& http) {
  if (!http) return {};
  std::vector<std::string> ways;
  if (!http->address.empty()) ways.push_back(tcp_address(*http));
  if (!http->socket.empty()) ways.push_back(http->socket);
  std::string text = fmt::format("  HTTP: {}", fmt::join(ways, " and "));
  for (const HttpToken& token : http->tokens) {
    if (token.revoked) continue;
    text += fmt::format(", token {} (uid {})", token.name, token.uid);
  }
  return text + "\n";
}

std::size_t count_of(const std::vector<Complaint>& complaints, Complaint::Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(complaints, severity, &Complaint::severity));
}

std::string rejected(const std::string& path, const std::vector<Complaint>& complaints) {
  return fmt::format("{}: not usable, {}\n{}", path,
                     counted(count_of(complaints, Complaint::Severity::error), "error"),
                     lines_of(complaints));
}

std::string verdict_line(const std::string& path, const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  const std::size_t broken = broken_parts(config).size();
  return fmt::format("{}: usable, {}, {}{}{}\n", path, counted(config.servers.size(), "server"),
                     counted(count_of(loaded.warnings, Complaint::Severity::warning), "warning"),
                     broken == 0 ? "" : fmt::format(", {} broken and left out", broken),
                     config.enabled ? "" : ", switched off (enabled = false)");
}

std::string accepted(const std::string& path, const LoadedConfig& loaded) {
  const Config& config = loaded.config;
  std::string text = verdict_line(path, loaded);
  text += lines_of(loaded.warnings);
  text += kernel_lines(config.kernel) + cgroup_line(config.cgroup) + http_line(config.http);
  text += weakening_lines("  ", weakenings_of(config));
  for (const Server& server : config.servers) text += lines_of(server, config);
  return text;
}

bool is_warning(const Complaint& complaint) {
  return complaint.severity == Complaint::Severity::warning;
}

}  // namespace

std::string brief_report(const std::string& path,
                         const std::expected<LoadedConfig, std::vector<Complaint>>& loaded) {
  std::vector<Complaint> complaints = loaded ? loaded->warnings : loaded.error();
  std::erase_if(complaints, is_warning);
  if (complaints.empty()) return {};
  return loaded ? verdict_line(path, *loaded) + lines_of(complaints) : rejected(path, complaints);
}

std::string check_report(const std::string& path,
                         const std::expected<LoadedConfig, std::vector<Complaint>>& loaded) {
  return loaded ? accepted(path, *loaded) : rejected(path, loaded.error());
}

}  // namespace cellblock
