#include "policy/config_check/config_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "policy/access/rights.h"
#include "policy/audit/chain.h"
#include "policy/base/server_set.h"
#include "policy/base/units.h"
#include "policy/config/installation_keys.h"
#include "policy/config_check/daemon_check.h"
#include "policy/config_check/flow_check.h"
#include "policy/config_check/limits_check.h"
#include "policy/config_check/listen_check.h"
#include "policy/config_check/people_check.h"
#include "policy/config_check/redaction_check.h"
#include "policy/config_check/run_as_check.h"
#include "policy/config_check/server_check.h"
#include "policy/config_check/value_check.h"
#include "policy/sandbox/user_namespace_ids.h"

namespace cellblock {

static_assert(most_kept_logs == audit::most_files - 1);

AuditRules check_audit(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "audit."};
  AuditRules rules;
  read_keys(scope, main.audit, rules);
  if (rules.keep == 0 && main.audit.has("max_bytes")) {
    scope.warning(main.audit.at("max_bytes"), "max_bytes",
                  "does nothing beside keep = 0, with which there is one file that only grows");
  }
  return rules;
}

CatalogueRules check_catalogue(Complaints& complaints, const ConfigText& main) {
  const Scope scope{complaints, main.file, "catalogue."};
  CatalogueRules rules;
  read_keys(scope, main.catalogue, rules);
  // Else no legacy server that is silent when asked would ever be surveyed.
  if (rules.era_probe < rules.survey) return rules;
  scope.error(main.catalogue.at("era_timeout"), "era_timeout",
              "is not shorter than catalogue.survey_timeout, which is for all of it; allowed: less "
              "than " +
                  duration_text(rules.survey));
  return rules;
}

namespace {

// `[sandbox]`: what the kernel must have. Nothing starts on less.
Kernel check_kernel(Complaints& complaints, const ConfigText& main, const HostFacts& facts) {
  const Scope scope{complaints, main.file, "sandbox."};
  Kernel kernel;
  kernel.landlock_abi = facts.landlock_abi;
  read_keys(scope, main.sandbox, kernel);
  if (kernel.landlock_abi >= kernel.min_landlock) return kernel;
  const Place at = main.sandbox.at("min_landlock");
  const std::string has = kernel.landlock_abi == 0
                              ? std::string("has no Landlock")
                              : fmt::format("has Landlock ABI {}", kernel.landlock_abi);
  scope.error(at, "min_landlock",
              fmt::format("this kernel {}, and {} is required; allowed: a newer kernel (6.1 has "
                          "ABI 2), landlock among those of the boot parameter lsm=, or, as a "
                          "weakening, sandbox.min_landlock = {}",
                          has, kernel.min_landlock, kernel.landlock_abi));
  return kernel;
}

using Extent = ProtectedPath::Extent;

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

void protect_secrets(const std::vector<SecretText>& secrets, std::vector<ProtectedPath>& paths) {
  for (const SecretText& secret : secrets) {
    if (secret.file) paths.push_back({Extent::file, secret.file->value, "a secret file"});
  }
}

void protect_tokens(const ConfigText& file, std::vector<ProtectedPath>& paths) {
  if (!file.http) return;
  for (const Written& token : file.http->tokens) {
    if (const auto path = token.text("file")) {
      paths.push_back({Extent::file, path->value, "a bearer token"});
    }
  }
}

std::vector<ProtectedPath> protected_paths(const CheckRequest& request, const Config& config,
                                           const HostFacts& facts) {
  std::vector<ProtectedPath> paths = {
      {Extent::file, facts.config_path, "cellblock's configuration"},
      {Extent::directory, directory_of(facts.config_path) + "/servers.d",
       "cellblock's configuration"},
      {Extent::file, config.listen.socket, "cellblock's socket"},
      {Extent::directory, config.state_directory, "cellblock's state"},
      {Extent::file, config.audit_log, "the audit log"},
      {Extent::directory, facts.credentials_directory, "cellblock's credentials"},
  };
  if (config.http) paths.push_back({Extent::file, config.http->socket, "cellblock's socket"});
  if (config.metrics) paths.push_back({Extent::file, config.metrics->socket, "cellblock's socket"});
  for (std::uint32_t file = 1; file <= config.audit.keep; ++file) {
    paths.push_back({Extent::file, audit::log_file_name(config.audit_log, file), "the audit log"});
  }
  for (const ConfigText& file : request.files) {
    protect_tokens(file, paths);
    for (const ServerText& server : file.servers) {
      protect_secrets(server.env_from_file, paths);
      protect_secrets(server.secret_files, paths);
      protect_secrets(server.secret_memfds, paths);
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

// Sorted by uid, each once.
void add_clients(const std::vector<ClientId>& clients, Config& config) {
  for (const ClientId& client : clients) {
    const auto place = std::ranges::lower_bound(config.clients, client.uid, {}, &ClientId::uid);
    const bool is_there = place != config.clients.end() && place->uid == client.uid;
    if (!is_there) config.clients.insert(place, client);
  }
}

void check_servers(const CheckRequest& request, Surroundings around, Complaints& complaints,
                   Config& config) {
  ServerNames names(complaints);
  for (const ConfigText& file : request.files) {
    for (const ServerText& text : file.servers) {
      if (config.servers.size() == max_servers) {
        complaints.error(text.file, text.name.at, "server",
                         fmt::format("has too many entries; allowed: at most {}", max_servers));
        return;
      }
      if (!names.take(text)) continue;
      CheckedServer checked = check_server(complaints, text, around);
      around.owner_mount_room -= checked.server.owner_mounts.size();
      config.servers.push_back(std::move(checked.server));
      add_clients(checked.clients, config);
    }
  }
  std::ranges::sort(config.servers, {}, &Server::name);
}

void check_id_map(const ConfigText& main, const Config& config, Complaints& complaints) {
  if (config.mode == RunMode::user) return;
  const MappedIds ids = mapped_ids(config);
  const std::size_t ranges = std::max(ids.uids.size(), ids.gids.size());
  if (ranges <= most_id_ranges) return;
  complaints.error(main.file, {}, "server",
                   fmt::format("the users and groups of run_as make {} separate ranges of ids, and "
                               "the kernel maps at most {}; allowed: fewer users in `allow` of "
                               "servers with run_as = \"client\"",
                               ranges, most_id_ranges));
}

void warn_of_idle_tokens(const ConfigText& main, const Config& config, Complaints& complaints) {
  if (complaints.has_errors()) return;
  for (const std::uint32_t index : idle_tokens(config)) {
    const std::string& name = config.http->tokens[index].name;
    const auto text = std::ranges::find_if(main.http->tokens, [&](const Written& token) {
      const auto written = token.text("name");
      return written && written->value == name;
    });
    complaints.warning(
        main.file, text->at("user"), "listen.http.token.user",
        fmt::format("no server allows the user of token \"{}\" (uid {}): each of its "
                    "requests gets 403; allowed: a user in allow.users, or in a "
                    "group of allow.groups, of a server",
                    name, config.http->tokens[index].uid));
  }
}

}  // namespace

Config check_config(const CheckRequest& request, const HostFacts& facts, Complaints& complaints) {
  Config config;
  if (request.files.empty()) return config;
  const ConfigText& main = request.files.front();
  config.mode = request.mode;
  read_daemon(complaints, main, config);
  config.identity = check_identity(complaints, main, request.mode, facts, config.identity);
  config.listen = check_listen(complaints, main, request.mode, request.socket_override, facts);
  config.http = check_http(complaints, main, {request.mode, config.identity, config.listen}, facts,
                           config.broken);
  config.metrics = check_metrics(complaints, main, {request.mode, config.listen, config.http});
  check_storage(complaints, main, facts, config);
  config.admins = check_admins(complaints, main, request.mode, facts);
  config.cgroup = check_cgroup(complaints, main, facts);
  config.kernel = check_kernel(complaints, main, facts);
  config.catalogue = check_catalogue(complaints, main);
  read_keys({complaints, main.file, "aggregate."}, main.aggregate, config.aggregate);
  config.audit = check_audit(complaints, main);
  config.calls = check_user_calls({complaints, main.file, ""}, main.calls);
  const CheckedResults results = check_results({complaints, main.file, ""}, main.results);
  config.results = results.keeping;
  const RedactionPlan redaction =
      check_redaction({complaints, main.file, ""}, main.redaction, RedactionPlan{});
  const auto paths = protected_paths(request, config, facts);
  const auto written = written_by_cells(request.files);
  const Profiles profiles = check_profiles(complaints, main);
  config.roles = check_roles(complaints, main, {config.identity, facts}, config.broken);
  config.flows = check_flows(complaints, main, {config.identity, facts});
  check_servers(request,
                {request.mode, config.identity, profiles, paths, written, facts, config.roles,
                 results.bounds, redaction, max_owner_mounts},
                complaints, config);
  warn_of_flow_servers(complaints, main, config);
  check_id_map(main, config, complaints);
  if (complaints.has_errors())
    return config;  // who may use what is not known before they are mended
  if (config.servers.empty()) {
    complaints.warning(main.file, {}, "server", "no server is declared");
  } else {
    warn_of_idle_tokens(main, config, complaints);
  }
  return config;
}

}  // namespace cellblock
