#include "supervisor/launcher/child/root_plan.h"

#include <algorithm>

#include "policy/config/path_rules.h"
#include "policy/egress/special_addresses.h"

namespace cellblock::launcher {
namespace {

using Entries = std::vector<RootEntry>;

// It answers or refuses at once; only what it has to ask others for takes time.
std::string resolver_file(const InternetAddress& resolver) {
  return "nameserver " + text_of(resolver) + "\noptions timeout:5 attempts:1\n";
}

std::string resolver_file_of(NetworkMode network, const HostLayout& host) {
  switch (network) {
    case NetworkMode::none:
      return resolver_file(loopback_resolver);
    case NetworkMode::loopback:
      break;
    case NetworkMode::egress:
      return resolver_file(cell_resolver);
    case NetworkMode::host:
      return host.resolver;
  }
  return {};
}

RootEntry directory(std::string path) {
  return {EntryKind::directory, std::move(path), "", {}, -1};
}

RootEntry file(std::string path, std::string content) {
  return {EntryKind::file, std::move(path), std::move(content), {}, -1};
}

RootEntry link(std::string path, std::string target) {
  return {EntryKind::symbolic_link, std::move(path), std::move(target), {}, -1};
}

RootEntry bound(const std::string& path, BindKind kind) {
  return {EntryKind::bind, path, path, kind, -1};
}

void add_system_directories(Entries& entries, const HostLayout& host) {
  for (const auto& [name, target] : host.system_directories) {
    entries.push_back(target ? link("/" + name, *target) : bound("/" + name, BindKind::read));
  }
}

void add_devices(Entries& entries) {
  entries.push_back(directory("/dev"));
  for (const char* name : {"null", "zero", "full", "random", "urandom"}) {
    entries.push_back(bound(std::string("/dev/") + name, BindKind::device));
  }
  entries.push_back(link("/dev/fd", "/proc/self/fd"));
  entries.push_back(link("/dev/stdin", "/proc/self/fd/0"));
  entries.push_back(link("/dev/stdout", "/proc/self/fd/1"));
  entries.push_back(link("/dev/stderr", "/proc/self/fd/2"));
  entries.push_back(directory("/dev/shm"));
}

// Enough for getpwuid, getaddrinfo("localhost"), TLS roots and the dynamic loader; no names of the
// host's users, no machine-id.
void add_own_etc(Entries& entries, NetworkMode network, const HostLayout& host) {
  entries.push_back(file("/etc/passwd",
                         "mcp:x:1000:1000:MCP server:/home/mcp:/bin/sh\n"
                         "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"));
  entries.push_back(file("/etc/group", "mcp:x:1000:\nnogroup:x:65534:\n"));
  entries.push_back(file("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"));
  entries.push_back(file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"));
  entries.push_back(file("/etc/localtime", host.local_time));
  if (network != NetworkMode::loopback) {
    entries.push_back(file("/etc/resolv.conf", resolver_file_of(network, host)));
  }
}

void add_etc(Entries& entries, NetworkMode network, const HostLayout& host) {
  entries.push_back(directory("/etc"));
  add_own_etc(entries, network, host);
  entries.push_back(file("/etc/ld.so.cache", host.loader_cache));
  for (const std::string& path : host.etc_directories) {
    entries.push_back(bound(path, BindKind::read));
  }
}

bool has_secret_files(const Server& server) {
  return std::any_of(
      server.secrets.begin(), server.secrets.end(),
      [](const SecretVariable& secret) { return secret.delivery == SecretDelivery::file; });
}

BindKind kind_of(const Bind& bind, const Server& server) {
  if (bind.access == Access::read) return BindKind::read;
  return server.execute_writable ? BindKind::write_execute : BindKind::write;
}

// The first `read` path that this directory is held for: it cannot be shown without it.
int held_for(const Bind& held, const Server& server) {
  const auto inner = std::ranges::find_if(server.binds, [&](const Bind& bind) {
    return bind.access == Access::read && is_at_or_below(bind.target, held.target);
  });
  return static_cast<int>(inner - server.binds.begin());
}

// Shorter targets first, so that one bind may lie inside another.
void add_declared(Entries& entries, const Server& server) {
  const std::size_t first = entries.size();
  for (const Bind& held : held_directories(server.binds)) {
    entries.push_back(
        {EntryKind::bind, held.target, held.source, kind_of(held, server), held_for(held, server)});
  }
  for (std::size_t i = 0; i < server.binds.size(); ++i) {
    const Bind& bind = server.binds[i];
    entries.push_back(
        {EntryKind::bind, bind.target, bind.source, kind_of(bind, server), static_cast<int>(i)});
  }
  std::stable_sort(
      entries.begin() + static_cast<std::ptrdiff_t>(first), entries.end(),
      [](const RootEntry& a, const RootEntry& b) { return a.path.size() < b.path.size(); });
}

void add_places(Entries& entries, const Server& server) {
  entries.push_back(directory("/proc"));
  entries.push_back(directory("/tmp"));
  entries.push_back(directory(home_directory));
  if (server.workspace) entries.push_back(directory(workspace_directory));
  if (has_secret_files(server)) entries.push_back(directory(secrets_directory));
  add_declared(entries, server);
}

}  // namespace

std::vector<RootEntry> plan_root(const Server& server, const HostLayout& host) {
  Entries entries;
  add_system_directories(entries, host);
  add_devices(entries);
  add_etc(entries, server.network, host);
  add_places(entries, server);
  return entries;
}

std::vector<RootEntry> own_entries(const Server& server, const HostLayout& host) {
  Entries entries;
  add_devices(entries);
  add_own_etc(entries, server.network, host);
  add_places(entries, server);
  return entries;
}

}  // namespace cellblock::launcher
