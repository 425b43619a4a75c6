#include "policy/reload/difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "policy/config/path_rules.h"

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
  /// What `take_part` returns of both.
  template <class TakePart>
  Compare& part(const char* name, TakePart take_part) {
    if (!(take_part(used_) == take_part(fresh_))) keys_.emplace_back(name);
    return *this;
  }
  Keys take() { return std::move(keys_); }

 private:
  const Owner& used_;
  const Owner& fresh_;
  Keys keys_;
};

Keys policy_keys(const Server& used, const Server& fresh) {
  Compare compare(used, fresh);
  for_each_policy_member_of_server(
      [&compare](const char* name, auto member) { compare.key(name, member); });
  return compare.take();
}

// By name, for whoever revokes one wants to see it.
void add_token_keys(const Config& used, const Config& fresh, Keys& keys) {
  if (!used.http || !fresh.http) return;
  const auto& before = used.http->tokens;
  const auto& after = fresh.http->tokens;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool is_new = i >= before.size();
    if (is_new && !after[i].revoked) {
      keys.push_back(fmt::format("listen.http.token {}: added", after[i].name));
    } else if (!is_new && after[i].revoked && !before[i].revoked) {
      keys.push_back(
          fmt::format("listen.http.token {}: revoked, with its sessions", after[i].name));
    }
  }
}

bool differ_but_for_tokens(const std::optional<HttpListen>& used,
                           const std::optional<HttpListen>& fresh) {
  if (!used || !fresh) return used != fresh;
  HttpListen other = *fresh;
  other.tokens = used->tokens;
  return *used != other;
}

Keys policy_keys(const Config& used, const Config& fresh) {
  Compare compare(used, fresh);
  for_each_policy_member([&compare](const char* name, auto member) { compare.key(name, member); });
  Keys keys = compare.take();
  if (!differ_but_for_tokens(used.http, fresh.http)) std::erase(keys, "listen.http");
  add_token_keys(used, fresh, keys);
  return keys;
}

std::vector<Bind> binds_of(const Server& server, Access access) {
  std::vector<Bind> binds;
  std::ranges::copy_if(server.binds, std::back_inserter(binds), [access](const Bind& bind) {
    return bind.access == access && !is_home_file(bind);
  });
  return binds;
}

std::vector<Bind> home_files_of(const Server& server) {
  std::vector<Bind> binds;
  std::ranges::copy_if(server.binds, std::back_inserter(binds), is_home_file);
  return binds;
}

auto secrets_by(SecretDelivery delivery) {
  return [delivery](const Server& server) {
    std::vector<SecretVariable> secrets;
    std::ranges::copy_if(
        server.secrets, std::back_inserter(secrets),
        [delivery](const SecretVariable& secret) { return secret.delivery == delivery; });
    return secrets;
  };
}

// But for what has a key of its own.
SyscallRules profile_of(const Server& server) {
  SyscallRules rules = server.syscalls;
  rules.write_exec = WriteExec::allowed;
  return rules;
}

Keys cell_keys(const Server& used, const Server& fresh) {
  return Compare(used, fresh)
      .key("command", &Server::command)
      .key("image", &Server::image)
      .key("working_directory", &Server::working_directory)
      .key("sha256", &Server::command_stamp)
      .key("run_as", &Server::run_as)
      .key("home", &Server::home)
      .key("workspace", &Server::workspace)
      .key("execute_writable", &Server::execute_writable)
      // To a cell they are the same.
      .part("program or read", [](const Server& s) { return binds_of(s, Access::read); })
      .part("write", [](const Server& s) { return binds_of(s, Access::write); })
      .part("home_files", home_files_of)
      .key("env", &Server::environment)
      .part("env_from_file", secrets_by(SecretDelivery::environment))
      .part("secret_files", secrets_by(SecretDelivery::file))
      .part("secret_memfds", secrets_by(SecretDelivery::memfd))
      .key("network", &Server::network)
      .key("egress", &Server::egress)
      .part("profile", profile_of)
      .part("write_exec", [](const Server& s) { return s.syscalls.write_exec; })
      .key("limits", &Server::limits)
      .key("lines", &Server::lines)
      .part("start.handshake_timeout", [](const Server& s) { return s.timeouts.handshake; })
      .part("stop.end_of_input", [](const Server& s) { return s.timeouts.end_of_input; })
      .part("stop.terminate", [](const Server& s) { return s.timeouts.terminate; })
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
  for_each_policy_member_of_server([&](const char*, auto member) { fresh.*member = used.*member; });
  // Cells that run go on where no other could be made in their place.
  if (!fresh.found.broken.empty()) {
    fresh.found.broken = used.found.broken;
    fresh.fingerprint = used.fingerprint;
  }
  if (fresh.found.is_unanswered) {
    fresh.storage = used.storage;
    fresh.disks = used.disks;
  }
  fresh.found.others_can_change = used.found.others_can_change;
  fresh.found.is_unanswered = used.found.is_unanswered;
  fresh.found.no_command = used.found.no_command;
  fresh.ownership = used.ownership;  // words: whom cells are there says run_as, and owner_mounts
  return used != fresh;
}

// What no key says, but the files and disks that it names.
const char* unsaid(const Server& used, const Server& fresh) {
  if (used.secret_marks != fresh.secret_marks) return "the value of a secret";
  return used.fingerprint != fresh.fingerprint ? "files of its command" : "what is found on disk";
}

// The same identity for another reason is no other one.
Server with_reason_of(const Server& used, Server fresh) {
  fresh.run_as.reason = used.run_as.reason;
  return fresh;
}

ChangedServer changed_server(const Server& used, const Server& as_read) {
  const Server fresh = with_reason_of(used, as_read);
  ChangedServer changed{.name = fresh.name, .keys = cell_keys(used, fresh)};
  if (changed.keys.empty() && differs_otherwise(used, fresh)) {
    changed.keys.emplace_back(unsaid(used, fresh));
  }
  changed.what = changed.keys.empty() ? ServerChange::policy : ServerChange::cell;
  if (changed.keys.empty() && used.found != fresh.found) {
    changed.keys.emplace_back("what is found at its paths");
  }
  changed.is_pinned_otherwise = used.pin != fresh.pin;
  for (std::string& key : policy_keys(used, fresh)) changed.keys.push_back(std::move(key));
  return changed;
}

// Of one that is left out nothing is told but that, whatever else differs.
std::optional<ServerChange> whole_change(const Server& used, const Server& fresh) {
  if (fresh.removed) return ServerChange::removed;
  if (used.removed) return ServerChange::returned;
  if (fresh.breakage.is_broken()) return ServerChange::broken;
  if (used.breakage.is_broken()) return ServerChange::mended;
  return std::nullopt;
}

// Nothing: what was removed stays so, or nothing differs.
std::optional<ChangedServer> compared(const Server& used, const Server& fresh) {
  if (used == fresh || (used.removed && fresh.removed)) return std::nullopt;
  if (const auto what = whole_change(used, fresh)) {
    return ChangedServer{.name = fresh.name, .what = *what};
  }
  ChangedServer changed = changed_server(used, fresh);
  if (changed.keys.empty()) return std::nullopt;
  return changed;
}

// Bound with rights that cellblockd gives up before anybody is served.
auto listens_at(const Config& config) {
  const HttpListen none;
  const HttpListen& http = config.http ? *config.http : none;
  return std::tuple(config.http.has_value(), http.address, http.port, http.socket, http.mode,
                    http.group);
}

Keys keys_at_start(const Config& used, const Config& fresh) {
  return Compare(used, fresh)
      .key("socket", &Config::listen)
      .part("listen.http: whether there is one, and its address, port, socket, mode and group",
            listens_at)
      .key("metrics", &Config::metrics)
      .key("daemon.user, group, id_range", &Config::identity)
      .key("daemon.state_directory", &Config::state_directory)
      .key("daemon.audit_log", &Config::audit_log)
      .part("audit.keep", [](const Config& c) { return c.audit.keep; })
      .part("audit.journal", [](const Config& c) { return c.audit.journal; })
      .key("daemon.cgroup", &Config::cgroup)
      .key("sandbox", &Config::kernel)

      .key("results.kept", &Config::results)
      .take();
}

bool differs_otherwise(const Config& used, Config fresh) {
  for_each_policy_member([&](const char*, auto member) { fresh.*member = used.*member; });
  fresh.servers = used.servers;
  fresh.clients = used.clients;  // merged: whom the launcher can be
  return used != fresh;
}

}  // namespace

Difference difference(const Config& used, const Config& fresh) {
  Difference found;
  found.at_start = keys_at_start(used, fresh);
  if (found.at_start.empty() && differs_otherwise(used, fresh)) {
    found.at_start.emplace_back("something outside of the servers");
  }
  found.keys = policy_keys(used, fresh);
  for (std::uint32_t i = 0; i < fresh.servers.size(); ++i) {
    std::optional<ChangedServer> changed =
        i < used.servers.size()
            ? compared(used.servers[i], fresh.servers[i])
            : ChangedServer{.name = fresh.servers[i].name, .what = ServerChange::added};
    if (!changed) continue;
    changed->index = i;
    changed->is_broken = fresh.servers[i].breakage.is_broken();
    found.servers.push_back(std::move(*changed));
  }
  return found;
}

std::string line_of(const ChangedServer& server) {
  const std::string_view but = server.is_broken ? ", but broken" : "";
  switch (server.what) {
    case ServerChange::added:
      return fmt::format("server {}: added{}", server.name, but);
    case ServerChange::returned:
      return fmt::format("server {}: declared again{}", server.name, but);
    case ServerChange::removed:
      return fmt::format("server {}: removed", server.name);
    case ServerChange::broken:
      return fmt::format("server {}: broken", server.name);
    case ServerChange::mended:
      return fmt::format("server {}: no longer broken", server.name);
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
  return fmt::format("takes effect at a restart only: {}", fmt::join(difference.at_start, "; "));
}

}  // namespace cellblock
