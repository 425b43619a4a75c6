#include "policy/config_reader/config_text.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "policy/config/installation_keys.h"
#include "policy/config_reader/key_types.h"
#include "policy/config_reader/redaction_reader.h"
#include "policy/config_reader/server_reader.h"
#include "policy/config_reader/toml_depth.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {
namespace {

HttpText read_http(TableReader reader) {
  HttpText http{.keys = write_down(reader, HttpListen{}), .tokens = {}};
  for (TableReader& token : reader.tables("token")) {
    http.tokens.push_back(write_down(token, HttpToken{}));
  }
  return http;
}

void read_listen(TableReader reader, ConfigText& text) {
  for (const char* key : {"address", "port", "socket", "mode", "group", "token"}) {
    reader.refuse(key, "stands in [listen.http]; did you mean that table?");
  }
  if (auto http = reader.table("http")) text.http = read_http(std::move(*http));
}

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
  Config shape;
  ResultBounds bounds;
  if (auto daemon = reader.table("daemon")) text.daemon = write_down(*daemon, DaemonTable{shape});
  if (auto socket = reader.table("socket")) text.socket = write_down(*socket, Listen{});
  if (auto listen = reader.table("listen")) read_listen(std::move(*listen), text);
  reader.refuse("http", "is no table of its own; did you mean [listen.http]?");
  if (auto metrics = reader.table("metrics")) text.metrics = write_down(*metrics, MetricsListen{});
  if (auto sandbox = reader.table("sandbox")) text.sandbox = write_down(*sandbox, Kernel{});
  if (auto table = reader.table("catalogue")) text.catalogue = write_down(*table, CatalogueRules{});
  if (auto audit = reader.table("audit")) text.audit = write_down(*audit, AuditRules{});
  if (auto profiles = reader.table("profile")) read_profiles(std::move(*profiles), text);
  if (auto roles = reader.table("role")) read_roles(std::move(*roles), text);
  if (auto calls = reader.table("calls")) text.calls = write_down(*calls, UserCalls{});
  if (auto results = reader.table("results")) {
    text.results = write_down(*results, ResultsTable{bounds, shape.results});
  }
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
