#include "policy/config_text.h"

#include <fmt/format.h>

#include <exception>

#include "policy/toml_depth.h"
#include "policy/toml_reader.h"

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
  daemon.enabled = reader.boolean("enabled");
  return daemon;
}

SocketText read_socket(TableReader reader) {
  SocketText socket;
  socket.path = reader.text("path");
  socket.mode = reader.text("mode");
  socket.group = reader.id("group");
  socket.max_connections_per_user = reader.integer("max_connections_per_user");
  socket.max_users = reader.integer("max_users");
  return socket;
}

LimitsText read_limits(TableReader reader) {
  LimitsText limits;
  limits.memory = reader.text("memory");
  limits.cpu = reader.number("cpu");
  limits.pids = reader.integer("pids");
  limits.open_files = reader.integer("open_files");
  limits.tmp = reader.text("tmp");
  limits.require = reader.boolean("require");
  return limits;
}

LinesText read_lines(TableReader reader) {
  LinesText lines;
  lines.to_host = reader.text("to_host");
  lines.from_host = reader.text("from_host");
  lines.from_server = reader.text("from_server");
  return lines;
}

StartText read_start(TableReader reader) {
  StartText start;
  start.mode = reader.text("mode");
  start.handshake_timeout = reader.text("handshake_timeout");
  return start;
}

StopText read_stop(TableReader reader) {
  StopText stop;
  stop.end_of_input = reader.text("end_of_input");
  stop.terminate = reader.text("terminate");
  return stop;
}

AllowText read_allow(TableReader reader) {
  AllowText allow;
  allow.at = reader.at();
  allow.users = reader.ids("users");
  allow.groups = reader.ids("groups");
  allow.tools = reader.texts("tools");
  return allow;
}

ServerText read_server(std::string_view file, TextAt name, TableReader reader) {
  ServerText server;
  server.file = file;
  server.name = std::move(name);
  server.command = reader.located_texts("command");
  server.read = reader.texts("read");
  server.write = reader.texts("write");
  server.env = reader.variables("env");
  server.env_from_file = reader.variables("env_from_file");
  server.network = reader.text("network");
  server.profile = reader.text("profile");
  if (auto limits = reader.table("limits")) server.limits = read_limits(std::move(*limits));
  if (auto lines = reader.table("lines")) server.lines = read_lines(std::move(*lines));
  if (auto start = reader.table("start")) server.start = read_start(std::move(*start));
  if (auto stop = reader.table("stop")) server.stop = read_stop(std::move(*stop));
  if (auto allow = reader.table("allow")) server.allow = read_allow(std::move(*allow));
  server.client_features = reader.texts("client_features");
  server.max_cells_per_user = reader.integer("max_cells_per_user");
  return server;
}

void read_file(TableReader reader, FileRole role, ConfigText& text) {
  if (role == FileRole::main) {
    if (auto daemon = reader.table("daemon")) text.daemon = read_daemon(std::move(*daemon));
    if (auto socket = reader.table("socket")) text.socket = read_socket(std::move(*socket));
  } else {
    reader.refuse("daemon", "stands in the main file only; allowed here: server tables");
    reader.refuse("socket", "stands in the main file only; allowed here: server tables");
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
