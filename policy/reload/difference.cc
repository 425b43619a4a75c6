#include "policy/reload/difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace cellblock {
namespace {

using Keys = std::vector<std::string>;

template <class Owner>
class Compare {
 public:
  Compare(const Owner& used, const Owner& fresh) : used_(used), fresh_(fresh) {}

  template <class Member>
  Compare& key(const char* name, Member Owner::* member) {
    if (!(used_.*member == fresh_.*member)) keys_.emplace_back(name);
    return *this;
  }
  Keys take() { return std::move(keys_); }

 private:
  const Owner& used_;
  const Owner& fresh_;
  Keys keys_;
};

Keys policy_keys(const Server& used, const Server& fresh) {
  return Compare(used, fresh)
      .key("enabled", &Server::enabled)
      .key("allow, rule", &Server::rules)
      .key("calls, tool", &Server::calls)
      .key("results", &Server::results)
      .key("redaction", &Server::redaction)
      .key("restart", &Server::restart)
      .key("validate_arguments", &Server::validate_arguments)
      .take();
}

Keys cell_keys(const Server& used, const Server& fresh) {
  return Compare(used, fresh)
      .key("command", &Server::command)
      .key("sha256", &Server::command_stamp)
      .key("run_as", &Server::run_as)
      .key("home", &Server::home)
      .key("workspace", &Server::workspace)
      .key("execute_writable", &Server::execute_writable)
      .key("program, read, write", &Server::binds)
      .key("env", &Server::environment)
      .key("env_from_file, secret_files, secret_memfds", &Server::secrets)
      .key("network", &Server::network)
      .key("egress", &Server::egress)
      .key("profile, write_exec", &Server::syscalls)
      .key("limits", &Server::limits)
      .key("lines", &Server::lines)
      .key("start, stop", &Server::timeouts)
      .key("stop.idle", &Server::stop)
      .key("health", &Server::health)
      .key("client_features", &Server::client_features)
      .key("era", &Server::era)
      .key("cells", &Server::cells)
      .key("pin", &Server::pin)
      .key("max_cells_per_user", &Server::max_cells_per_user)
      .take();
}

// Of a member that nobody thought of here it is not known that it may change at once.
bool differs_otherwise(const Server& used, Server fresh) {
  fresh.enabled = used.enabled;
  fresh.removed = used.removed;
  fresh.rules = used.rules;
  fresh.calls = used.calls;
  fresh.results = used.results;
  fresh.redaction = used.redaction;
  fresh.restart = used.restart;
  fresh.validate_arguments = used.validate_arguments;
  return used != fresh;
}

void add_changed(const Server& used, const Server& fresh, std::uint32_t index,
                 Difference& difference) {
  ChangedServer changed{
      .name = fresh.name, .what = ServerChange::policy, .keys = {}, .index = index};
  changed.keys = cell_keys(used, fresh);
  if (changed.keys.empty() && differs_otherwise(used, fresh)) {
    changed.keys.emplace_back(used.secret_marks == fresh.secret_marks ? "files of its command"
                                                                      : "the value of a secret");
  }
  if (!changed.keys.empty()) changed.what = ServerChange::cell;
  if (used.removed) {
    changed.what = ServerChange::added;
    changed.keys = {"declared again"};
    return difference.servers.push_back(std::move(changed));
  }
  for (std::string& key : policy_keys(used, fresh)) changed.keys.push_back(std::move(key));
  if (!changed.keys.empty()) difference.servers.push_back(std::move(changed));
}

// One that comes back has its old place, and has to be what its cells are made from there.
void compare_servers(const Server& used, const Server& fresh, std::uint32_t index,
                     Difference& difference) {
  if (fresh.removed) {
    if (!used.removed) {
      difference.servers.push_back(
          {.name = fresh.name, .what = ServerChange::removed, .keys = {}, .index = index});
    }
    return;
  }
  add_changed(used, fresh, index, difference);
}

Keys keys_at_start(const Config& used, const Config& fresh) {
  Keys keys = Compare(used, fresh)
                  .key("daemon.drain", &Config::drain)
                  .key("socket", &Config::listen)
                  .key("listen.http", &Config::http)
                  .key("metrics", &Config::metrics)
                  .key("catalogue", &Config::catalogue)
                  .key("daemon.user, group, id_range", &Config::identity)
                  .key("daemon.state_directory", &Config::state_directory)
                  .key("daemon.audit_log", &Config::audit_log)
                  .key("audit", &Config::audit)
                  .key("daemon.cgroup", &Config::cgroup)
                  .key("sandbox", &Config::kernel)
                  .key("run_as = \"client\" of further users", &Config::clients)
                  .key("results.kept", &Config::results)
                  .take();
  // The doors of administrators have the mode that they were opened with.
  if (used.admins.empty() && !fresh.admins.empty()) keys.emplace_back("daemon.admins (the first)");
  return keys;
}

bool differs_otherwise(const Config& used, Config fresh) {
  fresh.enabled = used.enabled;
  fresh.admins = used.admins;
  fresh.roles = used.roles;
  fresh.calls = used.calls;
  fresh.servers = used.servers;
  return used != fresh;
}

}  // namespace

Difference difference(const Config& used, const Config& fresh) {
  Difference found;
  found.at_start = keys_at_start(used, fresh);
  if (found.at_start.empty() && differs_otherwise(used, fresh)) {
    found.at_start.emplace_back("something outside of the servers");
  }
  found.keys = Compare(used, fresh)
                   .key("daemon.enabled", &Config::enabled)
                   .key("daemon.admins", &Config::admins)
                   .key("role", &Config::roles)
                   .key("calls", &Config::calls)
                   .take();
  for (std::uint32_t i = 0; i < fresh.servers.size(); ++i) {
    if (i < used.servers.size()) {
      compare_servers(used.servers[i], fresh.servers[i], i, found);
    } else {
      found.servers.push_back(
          {.name = fresh.servers[i].name, .what = ServerChange::added, .keys = {}, .index = i});
    }
  }
  return found;
}

std::string line_of(const ChangedServer& server) {
  switch (server.what) {
    case ServerChange::added:
      return fmt::format("server {}: added", server.name);
    case ServerChange::removed:
      return fmt::format("server {}: removed", server.name);
    case ServerChange::policy:
    case ServerChange::cell:
      break;
  }
  return fmt::format("server {}: {}", server.name, fmt::join(server.keys, ", "));
}

std::vector<std::string> lines_of(const Difference& difference) {
  std::vector<std::string> lines = difference.keys;
  for (const ChangedServer& server : difference.servers) lines.push_back(line_of(server));
  return lines;
}

std::string refusal_of(const Difference& difference) {
  if (difference.at_start.empty()) return {};
  return fmt::format("takes effect at a restart only, so nothing was changed: {}",
                     fmt::join(difference.at_start, "; "));
}

}  // namespace cellblock
