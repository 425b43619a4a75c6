#include "client/cli/import/propose/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "client/cli/import/propose/machine_view.h"
#include "client/cli/import/propose/proposal.h"
#include "client/cli/import/propose/proposed_command.h"
#include "client/cli/import/propose/proposed_paths.h"
#include "client/cli/import/read/declared_server.h"
#include "client/cli/import/read/secret_guess.h"
#include "client/cli/import/remote/remote_server.h"
#include "client/cli/terminal/terminal_text.h"
#include "policy/config/names.h"
#include "policy/egress/egress_rule.h"
#include "policy/sandbox/environment_rules.h"

namespace cellblock::cli {
namespace {

bool is_known(const Proposal& proposal, const std::string& name) {
  return std::ranges::any_of(proposal.variables,
                             [&](const auto& one) { return one.first == name; }) ||
         std::ranges::find(proposal.secrets, name, &ProposedSecret::variable) !=
             proposal.secrets.end();
}

void propose_secret(const std::string& name, const Places& places, Proposal& proposal) {
  proposal.secrets.push_back(
      {.variable = name, .file = fmt::format("{}/{}.{}", places.secrets, proposal.name, name)});
}

// PATH of a host leads to where no cell can look.
bool is_left_out(const std::string& name, Proposal& proposal) {
  const auto problem = variable_problem(name);
  if (!is_variable_name(name) || name == "PATH" || problem) {
    proposal.remarks.push_back(fmt::format("the variable {}: a cell has its own, or none", name));
    return true;
  }
  return is_known(proposal, name);
}

// MEMORY_FILE_PATH and the like. What only reads it says the same, so this is said and not done.
bool sounds_like_a_place_to_write(std::string_view name) {
  constexpr std::array<std::string_view, 6> words{"MEMORY",  "DATA",  "STORE",
                                                  "STORAGE", "CACHE", "DB"};
  return std::ranges::any_of(
      words, [name](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

void propose_variable(const DeclaredVariable& declared, const PlaceholderValues& values,
                      const MachineView& machine, const Places& places, Proposal& proposal) {
  if (is_left_out(declared.name, proposal)) return;
  auto value = filled_in(declared.value, values);
  const bool is_path = value.starts_with('/');
  const bool is_secret = declared.secret || is_placeholder(value) || looks_secret(value) ||
                         (sounds_secret(declared.name) && !is_path);
  if (is_secret) {
    propose_secret(declared.name, places, proposal);
    return;
  }
  const bool is_workspace = value == "/workspace" || value.starts_with("/workspace/");
  if (is_workspace && proposal.workspace == Workspace::none) proposal.workspace = Workspace::read;
  if (is_path && !is_workspace && value.find(':') == std::string::npos) {
    propose_path(value, PathUse::read, "named by the variable " + declared.name, machine, proposal);
    if (sounds_like_a_place_to_write(declared.name)) {
      proposal.todos.push_back(
          fmt::format("{} may name what the server writes: a file below /home/mcp stays in its own "
                      "home, else declare its directory under write",
                      declared.name));
    }
  }
  proposal.variables.emplace_back(declared.name, std::move(value));
}

// Variables as they are, but for secrets and placeholders: of those only the name is taken over,
// and a file that the admin is to write.
void propose_environment(const DeclaredServer& server, const MachineView& machine,
                         const Places& places, Proposal& proposal) {
  const PlaceholderValues values{server.bundle ? places.directory_of(proposal.name)
                                               : std::string()};
  for (const auto& variable : server.variables) {
    propose_variable(variable, values, machine, places, proposal);
  }
  for (const auto& name : server.inherited) {
    if (!is_left_out(name, proposal)) propose_secret(name, places, proposal);
  }
}

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
