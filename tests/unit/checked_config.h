#pragma once

#include <string>
#include <vector>

#include "policy/config_check/config_check.h"

/// Configurations as text, checked on a host of a few users, groups and directories.
namespace cellblock {

inline HostFacts example_facts() {
  HostFacts facts;
  facts.config_path = "/etc/cellblock/cellblock.toml";
  facts.open_files_hard = 4096;
  facts.landlock_abi = 7;
  facts.cgroup.missing_because = "no group was delegated";
  facts.users = {{"cellblock", {990, 991}}, {"alice", {1001, 1001}}, {"root", {0, 0}}};
  facts.groups = {{"cellblock", 991}, {"agents", 2000}};
  for (const char* path : {"/opt/mcp", "/srv/project", "/srv", "/var/lib", "/var/lib/cellblock/x",
                           "/etc/cellblock", "/etc/cellblock/servers.d", "/var/log"}) {
    facts.sources[path] = {PathKind::directory, path};
  }
  facts.sources["/srv/link"] = {PathKind::directory, "/proc/1"};
  facts.sources["/srv/to-state"] = {PathKind::directory, "/var/lib/cellblock"};
  facts.sources["/srv/socket"] = {PathKind::other, "/srv/socket"};
  facts.bad_secrets["/etc/cellblock/secrets/open"] = "is open to its group or to others";
  return facts;
}

struct Checked {
  Config config;
  std::vector<Complaint> all;

  /// What is more than a warning, whether it stops all or leaves something out.
  std::vector<Complaint> errors() const { return of(false); }
  std::vector<Complaint> of(bool is_warning) const {
    auto some = all;
    std::erase_if(some, [&](const Complaint& c) {
      return (c.severity == Complaint::Severity::warning) != is_warning;
    });
    return some;
  }
  std::vector<Complaint> warnings() const { return of(true); }
};

inline std::string lines_of(const std::vector<Complaint>& complaints) {
  std::string lines;
  for (const Complaint& complaint : complaints) lines += to_line(complaint) + "\n";
  return lines;
}

struct File {
  const char* name;
  std::string text;
};

inline Checked check_files(const std::vector<File>& files, const HostFacts& facts,
                           RunMode mode = RunMode::system) {
  Complaints complaints;
  std::vector<ConfigText> texts;
  for (const File& file : files) {
    const FileRole role = texts.empty() ? FileRole::main : FileRole::servers_only;
    texts.push_back(parse_config_text(file.text, file.name, role, complaints));
  }
  Checked checked;
  checked.config = check_config({mode, {}, texts}, facts, complaints);
  checked.all = complaints.take_sorted();
  return checked;
}

inline Checked check(const std::string& text, const HostFacts& facts = example_facts(),
                     RunMode mode = RunMode::system) {
  return check_files({{"c.toml", text}}, facts, mode);
}

inline constexpr const char* command_line = "command = [\"/usr/bin/node\", \"/opt/mcp/x.js\"]\n";
inline constexpr const char* allow_line = "allow = { users = [\"alice\"], tools = [\"*\"] }\n";

inline std::string server(const std::string& lines) {
  return std::string("[server.s]\n") + command_line + allow_line + lines + "\n";
}

}  // namespace cellblock
