#include "policy/sandbox/weakenings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "policy/base/internet_address.h"
#include "policy/base/units.h"
#include "policy/config/names.h"
#include "policy/egress/egress_rule.h"
#include "policy/egress/special_addresses.h"
#include "policy/syscalls/syscall_policy.h"

namespace cellblock {
namespace {

struct Lack {
  std::uint32_t abi;  ///< that brought it
  std::string_view what;
};

// The kernel's Documentation/userspace-api/landlock.rst, "Previous limitations". ABI 7 and 8
// brought logging flags and a call for all threads, which a cell does not need.
constexpr Lack lacks[] = {
    {1, "files (the mounts alone fence them in)"},
    {2, "moving files between directories (refused altogether below ABI 2)"},
    {3, "truncating files (the mounts alone forbid it)"},
    {4, "TCP ports (the network namespace and the system-call filter alone fence them in)"},
    {5, "ioctl on devices (the system-call filter alone forbids it)"},
    {6, "signals and abstract sockets (the pid and network namespaces alone fence them in)"},
    {9, "sockets with a path (the mounts alone hide them)"},
    {10, "UDP ports (the network namespace and the system-call filter alone fence them in)"},
};

}  // namespace

std::vector<std::string> landlock_lacks(std::uint32_t abi) {
  std::vector<std::string> lines;
  for (const Lack& lack : lacks) {
    if (abi < lack.abi) {
      lines.push_back(fmt::format("Landlock ABI {} lacks {}: ABI {}", abi, lack.what, lack.abi));
    }
  }
  return lines;
}

namespace {

constexpr std::uint32_t anybody_may_connect = 0006;
constexpr std::string_view past_write_exec =
    "; with ptrace code can be written at run time whatever write_exec says";

void add_limits(const Server& server, const Cgroup& cgroup, std::vector<std::string>& out) {
  const Limits& limits = server.limits;
  if (limits.enforcement == Enforcement::required) return;
  const bool has_group = !cgroup.directory.empty();
  const bool io_holds = io_hold(server, cgroup) != IoLimitSupport::nothing;
  std::string unenforced;
  if (limits.memory_bytes && !(has_group && cgroup.memory)) unenforced += ", memory";
  if (limits.cpu && !(has_group && cgroup.cpu)) unenforced += ", cpu";
  if (limits.io_read && !io_holds) unenforced += ", io_read";
  if (limits.io_write && !io_holds) unenforced += ", io_write";
  if (unenforced.empty()) return;
  out.push_back("limits.require = false (not enforced: " + unenforced.substr(2) + ")");
}

bool is_every_ipv4(const EgressRule& rule) {
  return rule.target == EgressTarget::range &&
         AddressRange{rule.address, rule.prefix} == every_ipv4;
}

void add_egress(const Server& server, std::vector<std::string>& out) {
  if (server.network != NetworkMode::egress) return;
  for (const EgressRule& rule : server.egress.allow) {
    std::string why;
    if (rule.target == EgressTarget::range) why = special_kinds(rule);
    const bool is_top_level = rule.host.find('.') == std::string::npos;
    if (rule.target == EgressTarget::suffix && is_top_level) why = "a whole top-level domain";
    if (is_every_ipv4(rule)) why.insert(0, "every IPv4 address: ");
    if (!why.empty())
      out.push_back(fmt::format("egress.allow = [\"{}\"] ({})", text_of(rule), why));
  }
}

void add_syscalls(const SyscallRules& rules, std::vector<std::string>& out) {
  if (!rules.allow.empty()) {
    out.push_back(fmt::format("profile = \"{}\" (allows {}{})", profile_name(rules),
                              fmt::join(rules.allow, ", "),
                              traces_past_write_exec(rules) ? past_write_exec : ""));
  }
  if (rules.write_exec == WriteExec::allowed &&
      default_write_exec(rules.base) == WriteExec::refused) {
    out.emplace_back("write_exec = \"allowed\"");
  }
}

// A socket with a path is reached through read-only mounts as well.
void add_unix_sockets(const Server& server, std::vector<std::string>& out) {
  if (server.syscalls.base != SyscallProfile::browser) return;
  if (server.binds.empty() && !server.workspace) return;
  out.push_back(fmt::format(
      "profile = \"{}\" (has Unix sockets: below Landlock ABI 9 it can connect to those that lie "
      "in what it sees of the host, where their modes let it)",
      profile_name(server.syscalls)));
}

// The kernel lets a user signal whatever runs under his uid, and trace it where its user namespace
// is his as well.
void add_identity(const RunAs& run_as, std::vector<std::string>& out) {
  if (run_as.kind == RunAsKind::own) return;
  out.push_back(
      fmt::format("run_as = \"{}\" ({}has this user's rights to the files that it sees; he "
                  "can signal it and, with --user, read its memory and secrets, and steer it)",
                  run_as_name(run_as),
                  run_as.reason.empty() ? "" : fmt::format("chosen since {}; ", run_as.reason)));
}

void add_client_features(const ClientFeatures& features, std::vector<std::string>& out) {
  std::string names;
  if (features.roots) names += ", \"roots\"";
  if (features.sampling) names += ", \"sampling\"";
  if (features.elicitation) names += ", \"elicitation\"";
  if (!names.empty()) out.push_back("client_features = [" + names.substr(2) + "]");
}

// Nobody chose this; it is what no limit of any server can count on here.
void add_missing_controllers(const Cgroup& cgroup, std::vector<std::string>& out) {
  const bool has_group = !cgroup.directory.empty();
  std::string missing;
  if (!has_group || !cgroup.memory) missing += ", limits.memory";
  if (!has_group || !cgroup.cpu) missing += ", limits.cpu";
  if (!has_group || !cgroup.io) missing += ", limits.io_read, limits.io_write";
  if (missing.empty()) return;
  out.push_back(
      fmt::format("{} (cannot be enforced: {})", missing.substr(2), cgroup.missing_because));
}

// What is accepted later as well; without pins, whatever comes.
bool allows_every_tool(const Rule& rule) {
  return rule.effect == Effect::allow && rule.arguments.empty() &&
         std::ranges::any_of(rule.tools, [](const NamePattern& pattern) {
           return pattern.is_prefix && pattern.text.empty();
         });
}

}  // namespace

std::vector<std::string> weakenings_of(const Server& server, const Cgroup& cgroup) {
  std::vector<std::string> out;
  if (server.network == NetworkMode::host) out.emplace_back("network = \"host\"");
  add_egress(server, out);
  add_identity(server.run_as, out);
  add_syscalls(server.syscalls, out);
  add_unix_sockets(server, out);
  if (server.execute_writable) out.emplace_back("execute_writable = true");
  add_limits(server, cgroup, out);
  add_client_features(server.client_features, out);
  if (server.pin == PinMode::off) out.emplace_back("pin = \"off\"");
  if (!server.validate_arguments) out.emplace_back("validate_arguments = false");
  for (const Rule& rule : server.rules) {
    if (!allows_every_tool(rule)) continue;
    if (rule.name == "allow") out.emplace_back("allow.tools = [\"*\"]");
    if (rule.name != "allow") out.push_back(fmt::format("{}.tools = [\"*\"]", rule.name));
  }
  return out;
}

std::vector<std::string> weakenings_of(const Config& config) {
  std::vector<std::string> out;
  if (config.mode == RunMode::user) {
    out.emplace_back(
        "--user (policy, secrets and audit log are open to this user's own processes)");
  }
  if ((config.listen.mode & anybody_may_connect) != 0) {
    out.push_back(fmt::format("socket.mode = \"{}\" (every local user may connect)",
                              mode_text(config.listen.mode)));
  }
  if (config.http && !config.http->socket.empty() &&
      (config.http->mode & anybody_may_connect) != 0) {
    out.push_back(fmt::format("listen.http.mode = \"{}\" (every local user may connect)",
                              mode_text(config.http->mode)));
  }
  if (config.audit.on_failure == AuditFailure::alarm) {
    out.emplace_back("audit.on_failure = \"alarm\"");
  }
  if (config.kernel.min_landlock < Kernel{}.min_landlock) {
    out.push_back(fmt::format("sandbox.min_landlock = {} (this kernel has ABI {})",
                              config.kernel.min_landlock, config.kernel.landlock_abi));
  }
  if (!config.identity.shared_with.empty()) {
    out.push_back(fmt::format("daemon.id_range (some of it is given to {}, who can act as a cell)",
                              config.identity.shared_with));
  }
  add_missing_controllers(config.cgroup, out);
  return out;
}

}  // namespace cellblock
