#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config_reader/calls_text.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/located.h"
#include "policy/config_reader/metrics_text.h"
#include "policy/config_reader/redaction_text.h"
#include "policy/config_reader/server_text.h"

/// The configuration as it is written: TOML of the right shape and types, nothing resolved, no unit
/// read, no default filled in. Every value knows its place. config_check.h makes a Config of it.
namespace cellblock {

struct IdRangeText {
  Maybe<std::int64_t> first;
  Maybe<std::int64_t> count;
};

struct DaemonText {
  Place at;
  Maybe<IdText> user;
  Maybe<IdText> group;
  Located<IdRangeText> id_range;
  Maybe<std::string> state_directory;
  Maybe<std::string> audit_log;
  Maybe<std::string> cgroup;
  Maybe<bool> enabled;
  Maybe<std::string> drain;
  Maybe<std::int64_t> max_cells;
  Maybe<std::int64_t> max_cells_per_user;
  Maybe<IdList> admins;
};

struct SocketText {
  Maybe<std::string> path;
  Maybe<std::string> mode;
  Maybe<IdText> group;
  Maybe<std::int64_t> max_connections_per_user;
  Maybe<std::int64_t> max_users;
  Maybe<std::string> first_message_timeout;
  Maybe<std::string> line_timeout;
};

/// `[[listen.http.token]]`
struct HttpTokenText {
  Place at;
  Maybe<std::string> name;
  Maybe<std::string> file;
  Maybe<IdText> user;
};

/// `[listen.http]`
struct HttpText {
  Place at;
  Maybe<std::string> address;
  Maybe<std::int64_t> port;
  Maybe<std::string> socket;
  Maybe<std::string> mode;
  Maybe<IdText> group;
  TextList origins;
  TextList hosts;
  Maybe<std::int64_t> max_connections;
  Maybe<std::int64_t> max_sessions;
  Maybe<std::string> session_idle;
  std::vector<HttpTokenText> tokens;
};

/// `[catalogue]`.
struct CatalogueText {
  Maybe<std::string> expiry;
  Maybe<std::string> survey_timeout;
  Maybe<std::string> era_timeout;
  Maybe<std::string> max_bytes;
};

/// `[audit]`.
struct AuditText {
  Maybe<std::string> max_bytes;
  Maybe<std::int64_t> keep;
  Maybe<std::string> on_failure;
  Maybe<std::string> arguments;
  Maybe<std::string> durability;
  Maybe<std::string> journal;
};

struct SandboxText {
  Maybe<std::int64_t> min_landlock;
};

/// `[profile.NAME]`: the admin's own.
struct ProfileText {
  TextAt name;
  Maybe<std::string> base;
  TextList allow;
  TextList refuse;
  Maybe<std::string> write_exec;
};

/// `[role.NAME]`
struct RoleText {
  TextAt name;
  IdList users;
  IdList groups;
};

/// What a file may hold: servers.d/*.toml only servers.
enum class FileRole { main, servers_only };

/// broken: TOML that ends in a syntax error, of which nothing was kept.
enum class Syntax { good, broken };

struct ConfigText {
  std::string file;
  Syntax syntax = Syntax::good;
  DaemonText daemon;
  SocketText socket;
  std::optional<HttpText> http;
  std::optional<MetricsText> metrics;
  SandboxText sandbox;
  CatalogueText catalogue;
  AuditText audit;
  std::vector<ProfileText> profiles;
  std::vector<RoleText> roles;
  UserCallsText calls;
  ResultsText results;
  RedactionText redaction;
  std::vector<ServerText> servers;
};

/// Reads what can be read and complains about the rest: syntax, types, unknown keys. Never throws;
/// `text` may be anything at all.
ConfigText parse_config_text(std::string_view text, std::string_view file, FileRole role,
                             Complaints& complaints);

}  // namespace cellblock
