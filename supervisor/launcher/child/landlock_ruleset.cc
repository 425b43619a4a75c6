#include "supervisor/launcher/child/landlock_ruleset.h"

#include <algorithm>

namespace cellblock::launcher {
namespace {

using namespace landlock;

struct AbiRights {
  std::uint32_t since;
  std::uint64_t rights;
};

constexpr AbiRights file_rights[] = {
    {1, execute | write_file | read_file | read_directory | remove_directory | remove_file |
            make_character_device | make_directory | make_file | make_socket | make_fifo |
            make_block_device | make_link},
    {2, refer},
    {3, truncate},
    {5, ioctl_device},
    {9, resolve_unix},
};
constexpr AbiRights network_rights[] = {{4, bind_tcp | connect_tcp},
                                        {10, bind_udp | connect_send_udp}};
constexpr AbiRights scope_rights[] = {{6, abstract_sockets | signals}};

template <std::size_t size>
std::uint64_t known(const AbiRights (&table)[size], std::uint32_t abi) {
  std::uint64_t rights = 0;
  for (const AbiRights& row : table) {
    if (abi >= row.since) rights |= row.rights;
  }
  return rights;
}

// --- what a kind of place permits. Nowhere: device nodes. Connecting to a socket that lies in the
// file system: in the cell's own places, with the profile that has such sockets.

constexpr std::uint64_t read_only = read_file | read_directory;
constexpr std::uint64_t read_execute = read_only | execute;
constexpr std::uint64_t writable = read_only | write_file | truncate | remove_directory |
                                   remove_file | make_directory | make_file | make_fifo |
                                   make_link | refer;
constexpr std::uint64_t scratch = writable | make_socket;
// Of what is the cell's own alone, so that its processes reach each other.
constexpr std::uint64_t own_sockets = make_socket | resolve_unix;
constexpr std::uint64_t device = read_file | write_file | ioctl_device;

std::uint64_t writable_for(const Server& server) {
  return server.execute_writable ? writable | execute : writable;
}

std::uint64_t access_of(BindKind kind) {
  switch (kind) {
    case BindKind::read:
      return read_execute;
    case BindKind::write:
      return writable;
    case BindKind::write_execute:
      return writable | execute;
    case BindKind::device:
      return device;
  }
  return 0;
}

LandlockRuleset handled_by(std::uint32_t abi) {
  LandlockRuleset ruleset;
  ruleset.files = known(file_rights, abi);
  ruleset.network = known(network_rights, abi);
  ruleset.scopes = known(scope_rights, abi);
  return ruleset;
}

// The kernel refuses a rule with a right that is not handled, and one without any.
void add_path(LandlockRuleset& ruleset, std::string path, std::uint64_t access) {
  const std::uint64_t permitted = access & ruleset.files;
  if (permitted != 0) ruleset.paths.push_back({std::move(path), permitted});
}

void add_port(LandlockRuleset& ruleset, std::uint16_t port, std::uint64_t access) {
  const std::uint64_t permitted = access & ruleset.network;
  if (permitted != 0) ruleset.ports.push_back({port, permitted});
}

// The public parts of /etc hold nothing to execute, and are readable as the rest of the root is.
bool is_of_etc(const RootEntry& entry) {
  return entry.declared < 0 && entry.path.starts_with("/etc/");
}

void add_binds(LandlockRuleset& ruleset, const std::vector<RootEntry>& entries) {
  for (const RootEntry& entry : entries) {
    if (entry.kind != EntryKind::bind || is_of_etc(entry)) continue;
    add_path(ruleset, entry.path, access_of(entry.bind));
  }
}

void add_workspace(LandlockRuleset& ruleset, const Server& server) {
  if (!server.workspace) return;
  const bool written = server.workspace->access == Access::write;
  const std::uint64_t kept = server.execute_writable ? read_execute : read_only;
  add_path(ruleset, workspace_directory, written ? writable_for(server) : kept);
}

constexpr std::uint16_t dns_port = 53;

std::vector<std::uint16_t> tcp_ports_of(const Egress& egress) {
  std::vector<std::uint16_t> ports = {dns_port};
  for (const EgressRule& rule : egress.allow) ports.push_back(rule.port);
  if (egress.proxy_port) ports.push_back(*egress.proxy_port);
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

// UDP is for questions to the resolver, from whatever port is free.
void add_questions(LandlockRuleset& ruleset) {
  add_port(ruleset, 0, bind_udp);
  add_port(ruleset, dns_port, connect_send_udp);
}

void add_egress(LandlockRuleset& ruleset, const Egress& egress) {
  add_port(ruleset, 0, bind_udp);
  for (const std::uint16_t port : tcp_ports_of(egress)) {
    add_port(ruleset, port, connect_tcp | (port == dns_port ? connect_send_udp : 0));
  }
}

void add_network(LandlockRuleset& ruleset, const Server& server) {
  switch (server.network) {
    case NetworkMode::none:
      return add_questions(ruleset);
    case NetworkMode::egress:
      return add_egress(ruleset, server.egress);
    case NetworkMode::loopback:
    case NetworkMode::host:
      ruleset.network = 0;
      return;
  }
}

bool has_unix_sockets(const Server& server) {
  return server.syscalls.base == SyscallProfile::browser;
}

}  // namespace

LandlockRuleset landlock_ruleset(std::uint32_t abi, const Server& server,
                                 const std::vector<RootEntry>& entries) {
  LandlockRuleset ruleset = handled_by(abi);
  // Rights add up on the way from a file to the root: this one holds for /proc and /run/secrets
  // too.
  add_path(ruleset, "/", read_only);
  const std::uint64_t own = has_unix_sockets(server) ? own_sockets : 0;
  add_path(ruleset, "/tmp", scratch | own);
  add_path(ruleset, "/dev/shm", scratch);
  add_path(ruleset, home_directory, writable_for(server) | own);
  add_workspace(ruleset, server);
  add_binds(ruleset, entries);
  add_network(ruleset, server);
  return ruleset;
}

LandlockRuleset own_landlock_ruleset(std::uint32_t abi, const std::vector<RootEntry>& entries) {
  LandlockRuleset ruleset = handled_by(abi);
  add_path(ruleset, "/etc", read_only);
  for (const RootEntry& entry : entries) {
    const bool system = entry.kind == EntryKind::bind && entry.bind == BindKind::read;
    if (system && !is_of_etc(entry)) add_path(ruleset, entry.path, read_execute);
  }
  return ruleset;
}

void permit_answers(LandlockRuleset& ruleset) { ruleset.network &= ~connect_send_udp; }

void permit_cache(LandlockRuleset& ruleset) {
  add_path(ruleset, home_directory, read_only | write_file | make_file | remove_file);
}

}  // namespace cellblock::launcher
