#include "policy/config_reader/config_text.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "policy/config_reader/calls_reader.h"
#include "policy/config_reader/metrics_reader.h"
#include "policy/config_reader/redaction_reader.h"
#include "policy/config_reader/results_reader.h"
#include "policy/config_reader/server_reader.h"
#include "policy/config_reader/toml_depth.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {
namespace {

Located<IdRangeText> read_id_range(TableReader reader) {
  return {{reader.integer("first"), reader.integer("count")}, reader.at()};
}

DaemonText read_daemon(TableReader reader) {
  DaemonText daemon;
  daemon.at = reader.at();
  daemon.user = reader.id("user");
  daemon.group = reader.id("group");
  if (auto range = reader.table("id_range")) daemon.id_range = read_id_range(std::move(*range));
  daemon.state_directory = reader.text("state_directory");
  daemon.audit_log = reader.text("audit_log");
  daemon.cgroup = reader.text("cgroup");
  daemon.enabled = reader.boolean("enabled");
  daemon.drain = reader.text("drain");
  daemon.max_cells = reader.integer("max_cells");
  daemon.max_cells_per_user = reader.integer("max_cells_per_user");
  daemon.admins = reader.located_ids("admins");
  return daemon;
}

SocketText read_socket(TableReader reader) {
  SocketText socket;
  socket.path = reader.text("path");
  socket.mode = reader.text("mode");
  socket.group = reader.id("group");
  socket.max_connections_per_user = reader.integer("max_connections_per_user");
  socket.max_users = reader.integer("max_users");
  socket.first_message_timeout = reader.text("first_message_timeout");
  socket.line_timeout = reader.text("line_timeout");
  return socket;
}

HttpTokenText read_token(TableReader reader) {
  HttpTokenText token;
  token.at = reader.at();
  token.name = reader.text("name");
  token.file = reader.text("file");
  token.user = reader.id("user");
  return token;
}

HttpText read_http(TableReader reader) {
  HttpText http;
  http.at = reader.at();
  http.address = reader.text("address");
  http.port = reader.integer("port");
  http.socket = reader.text("socket");
  http.mode = reader.text("mode");
  http.group = reader.id("group");
  http.origins = reader.texts("origins");
  http.hosts = reader.texts("hosts");
  http.max_connections = reader.integer("max_connections");
  http.max_sessions = reader.integer("max_sessions");
  http.session_idle = reader.text("session_idle");
  for (TableReader& token : reader.tables("token")) {
    http.tokens.push_back(read_token(std::move(token)));
  }
  return http;
}

void read_listen(TableReader reader, ConfigText& text) {
  for (const char* key : {"address", "port", "socket", "mode", "group", "token"}) {
    reader.refuse(key, "stands in [listen.http]; did you mean that table?");
  }
  if (auto http = reader.table("http")) text.http = read_http(std::move(*http));
}

CatalogueText read_catalogue(TableReader reader) {
  CatalogueText catalogue;
  catalogue.expiry = reader.text("expiry");
  catalogue.survey_timeout = reader.text("survey_timeout");
  catalogue.era_timeout = reader.text("era_timeout");
  catalogue.max_bytes = reader.text("max_bytes");
  return catalogue;
}

AuditText read_audit(TableReader reader) {
  AuditText audit;
  audit.max_bytes = reader.text("max_bytes");
  audit.keep = reader.integer("keep");
  audit.on_failure = reader.text("on_failure");
  audit.arguments = reader.text("arguments");
  audit.durability = reader.text("durability");
  audit.journal = reader.text("journal");
  return audit;
}

SandboxText read_sandbox(TableReader reader) { return {reader.integer("min_landlock")}; }

ProfileText read_profile(TextAt name, TableReader reader) {
  ProfileText profile;
  profile.name = std::move(name);
  profile.base = reader.text("base");
  profile.allow = reader.texts("allow");
  profile.refuse = reader.texts("refuse");
  profile.write_exec = reader.text("write_exec");
  return profile;
}

void read_profiles(TableReader profiles, ConfigText& text) {
  for (TextAt& name : profiles.names()) {
    auto profile = profiles.table(name.value);
    if (profile) text.profiles.push_back(read_profile(std::move(name), std::move(*profile)));
  }
}

RoleText read_role(TextAt name, TableReader reader) {
  RoleText role;
  role.name = std::move(name);
  role.users = reader.ids("users");
  role.groups = reader.ids("groups");
  return role;
}

void read_roles(TableReader roles, ConfigText& text) {
  for (TextAt& name : roles.names()) {
    auto role = roles.table(name.value);
    if (role) text.roles.push_back(read_role(std::move(name), std::move(*role)));
  }
}

void read_installation(TableReader& reader, ConfigText& text) {
  if (auto daemon = reader.table("daemon")) text.daemon = read_daemon(std::move(*daemon));
  if (auto socket = reader.table("socket")) text.socket = read_socket(std::move(*socket));
  if (auto listen = reader.table("listen")) read_listen(std::move(*listen), text);
  reader.refuse("http", "is no table of its own; did you mean [listen.http]?");
  if (auto metrics = reader.table("metrics")) text.metrics = read_metrics(std::move(*metrics));
  if (auto sandbox = reader.table("sandbox")) text.sandbox = read_sandbox(std::move(*sandbox));
  if (auto catalogue = reader.table("catalogue")) {
    text.catalogue = read_catalogue(std::move(*catalogue));
  }
  if (auto audit = reader.table("audit")) text.audit = read_audit(std::move(*audit));
  if (auto profiles = reader.table("profile")) read_profiles(std::move(*profiles), text);
  if (auto roles = reader.table("role")) read_roles(std::move(*roles), text);
  if (auto calls = reader.table("calls")) text.calls = read_user_calls(std::move(*calls));
  if (auto results = reader.table("results")) text.results = read_results(std::move(*results));
  if (auto redaction = reader.table("redaction")) {
    text.redaction = read_redaction(std::move(*redaction));
  }
}

void read_file(TableReader reader, FileRole role, ConfigText& text) {
  if (role == FileRole::main) {
    read_installation(reader, text);
  } else {
    for (const char* key : {"daemon", "socket", "listen", "metrics", "sandbox", "catalogue",
                            "audit", "profile", "role", "calls", "results", "redaction"}) {
      reader.refuse(key, "stands in the main file only; allowed here: server tables");
    }
  }
  auto servers = reader.table("server");
  if (!servers) return;
  for (const TextAt& name : servers->names()) {
    if (auto server = servers->table(name.value)) {
      text.servers.push_back(read_server(text.file, name, std::move(*server)));
    }
  }
}

}  // namespace

ConfigText parse_config_text(std::string_view text, std::string_view file, FileRole role,
                             Complaints& complaints) {
  ConfigText result;
  result.file = file;
  result.syntax = Syntax::broken;
  if (const auto at = find_too_deep_key(text)) {
    complaints.error(file, *at, "",
                     fmt::format("a key of more than {} parts; allowed: the keys of "
                                 "docs/configuration.md",
                                 max_key_dots + 1));
    return result;
  }
  // A library's exception must not leave here, whichever it is: the text may be hostile.
  try {
    const toml::table root = toml::parse(text, file);
    read_file(TableReader(root, file, "", complaints), role, result);
    result.syntax = Syntax::good;
  } catch (const toml::parse_error& error) {
    complaints.error(file, place_of(error.source()), "",
                     fmt::format("{}; allowed: TOML 1.0", error.description()));
  } catch (const std::exception& error) {
    complaints.error(file, {}, "", fmt::format("cannot be read as TOML: {}", error.what()));
  }
  return result;
}

}  // namespace cellblock
