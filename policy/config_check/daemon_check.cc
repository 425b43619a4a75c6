#include "policy/config_check/daemon_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "policy/config/installation_keys.h"
#include "policy/config/path_rules.h"
#include "policy/config_check/facts_wanted.h"
#include "policy/config_check/listen_check.h"
#include "policy/config_check/people_check.h"
#include "policy/config_check/value_check.h"

namespace cellblock {
namespace {

/// What one user has of them where that is not said: a part, so that there is one for the others.
/// Rootless there are no others.
std::uint32_t share_of(std::uint32_t in_all, RunMode mode) {
  constexpr std::uint32_t shares = 4;
  return mode == RunMode::user ? in_all : (in_all + shares - 1) / shares;
}

}  // namespace

void check_cell_bounds(const Scope& scope, const Written& daemon, RunMode mode,
                       CellBounds& bounds) {
  if (!daemon.has("max_cells_per_user")) {
    bounds.of_user = std::min(bounds.of_user, share_of(bounds.in_all, mode));
  } else if (bounds.of_user > bounds.in_all) {
    scope.error(daemon.at("max_cells_per_user"), "max_cells_per_user",
                fmt::format("is more than max_cells; allowed: 1 to {}", bounds.in_all));
  }
}

namespace {

constexpr std::size_t most_admins = 4096;

constexpr std::uint32_t owner_bits = 0600;

constexpr std::string_view needs_ids =
    "allowed: create the account (useradd --system --user-group --no-create-home --shell "
    "/usr/sbin/nologin cellblock), or set user and group of [daemon] to numbers that nobody else "
    "has";

bool overlaps(std::uint64_t first, std::uint64_t count, std::uint64_t other, std::uint64_t others) {
  return first < other + others && other < first + count;
}

void refuse_rootless(const Scope& scope, Place at, std::string_view key) {
  scope.error(at, key,
              "has no meaning with --user, where everything runs under your own ids and those that "
              "/etc/subuid gives you; allowed: leave it out");
}

Identity rootless_identity(const Scope& scope, const Written& daemon, const HostFacts& facts) {
  for (const char* key : {"user", "group"}) {
    if (daemon.has(key)) refuse_rootless(scope, daemon.at(key), key);
  }
  const Place range = daemon.below("id_range").at();
  if (range.line > 0) refuse_rootless(scope, range, "id_range");
  return {facts.uid, facts.gid, facts.uid, 1};
}

void refuse_root(const Scope& scope, Place at, std::string_view key, std::uint32_t id) {
  if (id != 0) return;
  scope.error(at, key, "0 is root; allowed: an account with no rights of its own");
}

// The account that nobody configured: "cellblock", or, started without root, whoever we are.
void take_default_ids(const Scope& scope, const Written& daemon, const HostFacts& facts,
                      Identity& identity) {
  const auto account = facts.users.find(default_account);
  if (account != facts.users.end()) {
    identity.uid = account->second.uid;
    identity.gid = account->second.gid;
  } else if (facts.uid != 0) {
    identity.uid = facts.uid;
    identity.gid = facts.gid;
  } else {
    scope.error(daemon.at(), "user",
                fmt::format("there is no user \"{}\" here; {}", default_account, needs_ids));
  }
}

void take_user(const Scope& scope, const Written& daemon, const HostFacts& facts,
               Identity& identity) {
  const Located<IdText> user = *daemon.id("user");
  const auto uid = check_user(scope, "user", user, facts);
  if (!uid) return;
  identity.uid = *uid;
  refuse_root(scope, user.at, "user", *uid);
  if (daemon.has("group")) return;
  if (const auto* name = std::get_if<std::string>(&user.value)) {
    identity.gid = facts.users.find(*name)->second.gid;
  } else {
    scope.error(user.at, "group",
                "is missing beside a numeric user; allowed: a group's name, or a number");
  }
}

void take_group(const Scope& scope, const Written& daemon, const HostFacts& facts,
                Identity& identity) {
  const auto gid = check_group(scope, "group", *daemon.id("group"), facts);
  if (!gid) return;
  identity.gid = *gid;
  refuse_root(scope, daemon.at("group"), "group", *gid);
}

void warn_about_subordinate_ids(const Scope& scope, Place at, const HostFacts& facts,
                                Identity& identity) {
  for (const SubordinateRange& range : facts.subordinate_ranges) {
    if (!overlaps(identity.first_cell_id, identity.cell_ids, range.first, range.count)) continue;
    scope.warning(
        at, "id_range",
        fmt::format("{} to {} overlaps ids that {} gives to \"{}\" ({} to {}), who could "
                    "act as a cell's user; better: a range that is in no line of "
                    "/etc/subuid and /etc/subgid",
                    identity.first_cell_id, identity.first_cell_id + identity.cell_ids - 1,
                    range.file, range.owner, range.first, range.first + range.count - 1));
    if (identity.shared_with.empty()) {
      identity.shared_with = fmt::format("\"{}\" in {}", range.owner, range.file);
    }
  }
}

// In a container there may be far fewer ids than on its host.
void check_ids_are_mapped(const Scope& scope, Place at, const HostFacts& facts,
                          const Identity& identity) {
  const auto has_all = [&identity](const MappedRange& range) {
    return identity.first_cell_id >= range.first &&
           identity.first_cell_id - range.first + std::uint64_t{identity.cell_ids} <= range.count;
  };
  if (facts.mapped_ranges.empty() || std::ranges::any_of(facts.mapped_ranges, has_all)) return;
  const MappedRange& largest =
      *std::ranges::max_element(facts.mapped_ranges, {}, &MappedRange::count);
  scope.error(
      at, "id_range",
      fmt::format("{} to {} are no ids of this user namespace, which has {} to {}; allowed: ids "
                  "of it that nothing else uses, like {{ first = {}, count = {} }}",
                  identity.first_cell_id, identity.first_cell_id + identity.cell_ids - 1,
                  largest.first, largest.first + (largest.count - 1),
                  largest.first + largest.count / 2, largest.count / 4));
}

void check_id_range(const Scope& scope, const Written& daemon, const HostFacts& facts,
                    Identity& identity) {
  const Place range = daemon.below("id_range").at();
  const Place at = range.line > 0 ? range : daemon.at();
  const std::int64_t end = std::int64_t{identity.first_cell_id} + identity.cell_ids;
  if (end > end_of_ids) {
    scope.error(at, "id_range", fmt::format("ends at {}; allowed: ids below 2^31", end - 1));
  }
  for (const std::uint32_t id : {identity.uid, identity.gid}) {
    if (!overlaps(identity.first_cell_id, identity.cell_ids, id, 1)) continue;
    scope.error(
        at, "id_range",
        fmt::format("contains {}, the daemon's own id; allowed: ids that nothing else uses", id));
  }
  check_ids_are_mapped(scope, at, facts, identity);
  warn_about_subordinate_ids(scope, at, facts, identity);
}

std::string default_socket(RunMode mode, const HostFacts& facts) {
  if (mode == RunMode::system) return "/run/cellblock/cellblock.sock";
  if (facts.runtime_directory.empty()) return {};
  return facts.runtime_directory + "/cellblock/cellblock.sock";
}

void check_socket_path(const Scope& scope, Place at, const std::string& path) {
  if (path.empty()) {
    scope.error(
        at, "path",
        "is missing and XDG_RUNTIME_DIR is not set; allowed: an absolute path, here or with "
        "--socket");
  } else {
    check_socket_length(scope, "path", at, path);
  }
}

void refuse_root_directory(const Scope& scope, Place at, std::string_view key,
                           const std::string& path) {
  if (path == "/") scope.error(at, key, "\"/\" is the whole host; allowed: a place of its own");
}

// As it is now: who joins the group later decides after the next reload.
void add_admins_of(const Scope& scope, const std::string& group, Place at, const HostFacts& facts,
                   std::vector<std::uint32_t>& uids) {
  const auto gid = check_group(scope, "admins", {group, at}, facts);
  const auto members = gid ? facts.members.find(*gid) : facts.members.end();
  if (members == facts.members.end()) return;
  for (const ClientId& member : members->second.users) {
    if (member.uid != 0) uids.push_back(member.uid);
  }
  if (members->second.users.empty()) {
    scope.warning(at, "admins", fmt::format("nobody is in the group \"{}\"", group));
  }
}

}  // namespace

void read_daemon(Complaints& complaints, const ConfigText& text, Config& config) {
  read_keys(Scope{complaints, text.file, "daemon."}, text.daemon, DaemonTable{config});
}

Identity check_identity(Complaints& complaints, const ConfigText& text, RunMode mode,
                        const HostFacts& facts, Identity identity) {
  const Scope scope{complaints, text.file, "daemon."};
  const Written& daemon = text.daemon;
  if (mode == RunMode::user) return rootless_identity(scope, daemon, facts);
  if (daemon.has("user")) {
    take_user(scope, daemon, facts, identity);
  } else {
    take_default_ids(scope, daemon, facts, identity);
  }
  if (daemon.has("group")) take_group(scope, daemon, facts, identity);
  check_id_range(scope, daemon, facts, identity);
  return identity;
}

Listen check_listen(Complaints& complaints, const ConfigText& text, RunMode mode,
                    const std::optional<std::string>& socket_override, const HostFacts& facts) {
  const Scope scope{complaints, text.file, "socket."};
  Listen listen;
  listen.socket = default_socket(mode, facts);
  read_keys(scope, text.socket, listen);
  Maybe<std::string> path = text.socket.text("path");
  if (socket_override) path = Located<std::string>{*socket_override, {}};
  check_path(scope, "path", path, listen.socket);
  check_socket_path(scope, path ? path->at : Place{}, listen.socket);
  if (mode == RunMode::user) listen.mode = owner_bits;
  listen.mode = check_socket_mode(scope, text.socket.text("mode"), listen.mode);
  if (const auto group = text.socket.id("group")) {
    listen.group = check_group(scope, "group", *group, facts);
  }
  return listen;
}

void check_storage(Complaints& complaints, const ConfigText& text, const HostFacts& facts,
                   Config& config) {
  const Scope scope{complaints, text.file, "daemon."};
  const bool rootless = config.mode == RunMode::user;
  config.state_directory = rootless ? facts.state_home + "/cellblock" : "/var/lib/cellblock";
  if (rootless && facts.state_home.empty() && !text.daemon.has("state_directory")) {
    scope.error(text.daemon.at(), "state_directory",
                "is missing and neither XDG_STATE_HOME nor HOME is set; allowed: an absolute path");
  }
  check_path(scope, "state_directory", text.daemon.text("state_directory"), config.state_directory);
  config.audit_log =
      rootless ? config.state_directory + "/audit.jsonl" : "/var/log/cellblock/audit.jsonl";
  check_path(scope, "audit_log", text.daemon.text("audit_log"), config.audit_log);
  const Place at = text.daemon.at();
  refuse_root_directory(scope, at, "state_directory", config.state_directory);
  refuse_root_directory(scope, at, "audit_log", config.audit_log);
  check_cell_bounds(scope, text.daemon, config.mode, config.cells);
}

std::vector<std::uint32_t> check_admins(Complaints& complaints, const ConfigText& text,
                                        RunMode mode, const HostFacts& facts) {
  const auto admins = text.daemon.get<IdList>("admins");
  if (!admins) return {};
  const Scope scope{complaints, text.file, "daemon."};
  if (mode == RunMode::user) {
    refuse_rootless(scope, admins->at, "admins");
    return {};
  }
  std::vector<std::uint32_t> uids;
  for (const auto& admin : admins->value) {
    if (const auto group = admin_group(admin.value)) {
      add_admins_of(scope, *group, admin.at, facts, uids);
    } else if (const auto uid = check_user(scope, "admins", admin, facts)) {
      uids.push_back(*uid);
    }
  }
  std::ranges::sort(uids);
  const auto same = std::ranges::unique(uids);
  uids.erase(same.begin(), same.end());
  if (uids.size() > most_admins) {
    scope.error(admins->at, "admins",
                fmt::format("are {} users with the members of the groups; allowed: at most {}",
                            uids.size(), most_admins));
  }
  return uids;
}

Cgroup check_cgroup(Complaints& complaints, const ConfigText& text, const HostFacts& facts) {
  const Scope scope{complaints, text.file, "daemon."};
  const auto wish = text.daemon.text("cgroup");
  if (!wish) return facts.cgroup;
  const auto choice = parse_cgroup_choice(wish->value);
  if (!choice) {
    scope.error(wish->at, "cgroup", fmt::format("\"{}\" {}", wish->value, choice.error().text));
  } else if (choice->way == CgroupChoice::Way::path && facts.cgroup.directory.empty()) {
    scope.error(wish->at, "cgroup",
                fmt::format("\"{}\" cannot be used: {}; allowed: the whole path of a group "
                            "that is cellblock's own, with the mount it is in, like "
                            "\"/sys/fs/cgroup/cellblock\"; \"auto\"; \"none\"",
                            wish->value, facts.cgroup.missing_because));
  }
  return facts.cgroup;
}

}  // namespace cellblock
