#include "policy/config_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "policy/daemon_check.h"
#include "policy/server_check.h"

namespace cellblock {
namespace {

constexpr std::size_t most_servers = 256;

using Extent = ProtectedPath::Extent;

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

std::vector<ProtectedPath> protected_paths(const CheckRequest& request, const Config& config,
                                           const HostFacts& facts) {
  std::vector<ProtectedPath> paths = {
      {Extent::file, facts.config_path, "cellblock's configuration"},
      {Extent::directory, directory_of(facts.config_path) + "/servers.d",
       "cellblock's configuration"},
      {Extent::file, config.listen.socket, "cellblock's socket"},
      {Extent::directory, config.state_directory, "cellblock's state"},
      {Extent::file, config.audit_log, "the audit log"},
  };
  for (const ConfigText& file : request.files) {
    for (const ServerText& server : file.servers) {
      for (const VariableText& secret : server.env_from_file) {
        paths.push_back({Extent::file, secret.value.value, "a secret file"});
      }
    }
  }
  std::erase_if(paths, [](const ProtectedPath& own) { return !own.path.starts_with('/'); });
  return paths;
}

// Servers in reading order; the second of a name is complained about and left out.
class ServerNames {
 public:
  explicit ServerNames(Complaints& complaints) : complaints_(complaints) {}

  bool take(const ServerText& server) {
    const auto [first, is_new] = seen_.try_emplace(server.name.value, &server);
    if (is_new) return true;
    complaints_.error(server.file, server.name.at, "server." + server.name.value,
                      fmt::format("is declared already in {}:{}; allowed: each name once",
                                  first->second->file, first->second->name.at.line));
    return false;
  }

 private:
  Complaints& complaints_;
  ByName<const ServerText*> seen_;
};

std::vector<Server> check_servers(const CheckRequest& request, const Surroundings& around,
                                  Complaints& complaints) {
  std::vector<Server> servers;
  ServerNames names(complaints);
  for (const ConfigText& file : request.files) {
    for (const ServerText& text : file.servers) {
      if (servers.size() == most_servers) {
        complaints.error(text.file, text.name.at, "server",
                         fmt::format("has too many entries; allowed: at most {}", most_servers));
        return servers;
      }
      if (names.take(text)) servers.push_back(check_server(complaints, text, around));
    }
  }
  std::ranges::sort(servers, {}, &Server::name);
  return servers;
}

}  // namespace

Config check_config(const CheckRequest& request, const HostFacts& facts, Complaints& complaints) {
  Config config;
  if (request.files.empty()) return config;
  const ConfigText& main = request.files.front();
  config.mode = request.mode;
  config.identity = check_identity(complaints, main, request.mode, facts);
  config.listen = check_listen(complaints, main, request.mode, request.socket_override, facts);
  check_storage(complaints, main, facts, config);
  const auto paths = protected_paths(request, config, facts);
  config.servers = check_servers(request, {config.identity, paths, facts}, complaints);
  if (config.servers.empty() && !complaints.has_errors()) {
    complaints.warning(main.file, {}, "server", "no server is declared");
  }
  return config;
}

}  // namespace cellblock
