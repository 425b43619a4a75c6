#include "client/cli/import/propose/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/propose/proposed_environment.h"
#include "client/cli/import/propose/proposed_paths.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/config/names.h"
#include "policy/egress/egress_rule.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t longest_name = 63;
constexpr std::size_t most_servers = 256;

bool is_server_name_letter(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
}

char lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

void propose_domains(const DeclaredSandbox& sandbox, Proposal& proposal) {
  for (const auto& domain : sandbox.domains) {
    if (parse_egress_rule(domain)) {
      proposal.domains.push_back(domain);
    } else {
      proposal.todos.push_back(fmt::format("\"{}\" is nothing that egress.allow can name", domain));
    }
  }
  for (const auto& domain : sandbox.denied_domains) {
    proposal.remarks.push_back(
        fmt::format("deniedDomains {}: nothing is open but egress.allow", domain));
  }
}

void propose_sandbox(const DeclaredServer& server, const MachineView& machine, Proposal& proposal) {
  if (!server.sandbox) return;
  for (const auto& path : server.sandbox->write) {
    if (path == "." || path.starts_with("${workspaceFolder}")) {
      proposal.workspace = Workspace::write;
    } else if (path.starts_with('/')) {
      propose_path(path, PathUse::write, "allowWrite", machine, proposal);
    } else {
      proposal.todos.push_back(fmt::format("allowWrite {}: name the whole path under write", path));
    }
  }
  for (const auto& path : server.sandbox->denied_read) {
    proposal.remarks.push_back(fmt::format("denyRead {}: a cell sees only what is named", path));
  }
  for (const auto& path : server.sandbox->denied_write) {
    proposal.remarks.push_back(fmt::format("denyWrite {}: see that it is not below a write", path));
  }
  propose_domains(*server.sandbox, proposal);
}

void remark_on_the_rest(const DeclaredServer& server, Proposal& proposal) {
  if (!server.directory.empty()) {
    proposal.todos.push_back(
        fmt::format("it was started in {}: write relative paths among its arguments as whole ones",
                    server.directory));
  }
  for (const auto& word : server.unheeded) proposal.remarks.push_back(word);
  proposal.tools = server.tools;
}

Proposal propose(const DeclaredServer& declared, const std::string& name,
                 const MachineView& machine, const Places& places) {
  Proposal proposal{.name = name, .declared_as = declared.name, .obstacle = declared.obstacle};
  if (!proposal.obstacle.empty()) return proposal;
  const auto read = as_remote(declared);
  if (!read) proposal.obstacle = read.error().text;
  const auto& server = read.value_or(declared);
  if (proposal.obstacle.empty()) propose_command(server, machine, places, proposal);
  if (!proposal.obstacle.empty()) return proposal;
  propose_environment(server, machine, places, proposal);
  propose_sandbox(server, machine, proposal);
  remark_on_the_rest(server, proposal);
  return proposal;
}

std::map<std::string, std::string> values_of(const std::vector<DeclaredVariable>& variables) {
  std::map<std::string, std::string> map;
  for (const auto& variable : variables) map[variable.name] = variable.value;
  return map;
}

bool is_declared_alike(const DeclaredServer& one, const DeclaredServer& other) {
  return one.name == other.name && one.command == other.command && one.url == other.url &&
         values_of(one.headers) == values_of(other.headers) && one.directory == other.directory &&
         values_of(one.variables) == values_of(other.variables);
}

}  // namespace

std::string server_name_for(const std::string& declared) {
  std::string name;
  for (const char raw : declared) {
    const char byte = lower(raw);
    if (is_server_name_letter(byte)) {
      name += byte;
    } else if (!name.empty() && !name.ends_with('-')) {
      name += '-';
    }
  }
  if (!name.empty() && name.front() >= '0' && name.front() <= '9') name.insert(0, "mcp-");
  if (name.size() > longest_name) name.resize(longest_name);
  while (name.ends_with('-')) name.pop_back();
  return name;
}

Result<std::vector<Proposal>> propose_all(const std::vector<DeclaredServer>& servers,
                                          const MachineView& machine, const Places& places) {
  if (servers.empty()) return fail("it declares no server");
  if (servers.size() > most_servers) return fail("it declares more than 256 servers");
  std::vector<Proposal> proposals;
  std::map<std::string, const DeclaredServer*> named;
  for (const auto& server : servers) {
    const auto name = server_name_for(server.name);
    const auto shown = cut_to(safe_line(server.name), 80);
    if (!is_short_name(name)) return fail(fmt::format("no name can be made of \"{}\"", shown));
    const auto [other, is_new] = named.try_emplace(name, &server);
    if (is_new) {
      proposals.push_back(propose(server, name, machine, places));
    } else if (!is_declared_alike(*other->second, server)) {
      return fail(fmt::format("\"{}\" and \"{}\" would both be the server \"{}\": rename one",
                              cut_to(safe_line(other->second->name), 80), shown, name));
    }
  }
  return proposals;
}

}  // namespace cellblock::cli
