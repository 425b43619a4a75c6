#include "policy/server_reader.h"

#include <utility>

namespace cellblock {
namespace {

LimitsText read_limits(TableReader reader) {
  LimitsText limits;
  limits.memory = reader.text("memory");
  limits.swap = reader.text("swap");
  limits.cpu = reader.number("cpu");
  limits.io_read = reader.text("io_read");
  limits.io_write = reader.text("io_write");
  limits.pids = reader.integer("pids");
  limits.open_files = reader.integer("open_files");
  limits.tmp = reader.text("tmp");
  limits.home = reader.text("home");
  limits.file = reader.text("file");
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

EgressText read_egress(TableReader reader) {
  EgressText egress;
  egress.at = reader.at();
  egress.allow = reader.texts("allow");
  egress.max_connections = reader.integer("max_connections");
  egress.max_bytes = reader.text("max_bytes");
  egress.proxy = reader.integer("proxy");
  return egress;
}

WorkspaceText read_workspace(TableReader reader) {
  WorkspaceText workspace;
  workspace.at = reader.at();
  workspace.allow = reader.texts("allow");
  workspace.mode = reader.text("mode");
  return workspace;
}

void read_program(TableReader& reader, ServerText& server) {
  server.command = reader.located_texts("command");
  server.sha256 = reader.text("sha256");
  server.program = reader.text("program");
}

void read_files(TableReader& reader, ServerText& server) {
  server.read = reader.texts("read");
  server.write = reader.texts("write");
  server.home = reader.text("home");
  if (auto table = reader.table("workspace")) server.workspace = read_workspace(std::move(*table));
  server.execute_writable = reader.boolean("execute_writable");
}

void read_variables(TableReader& reader, ServerText& server) {
  server.env = reader.variables("env");
  server.env_from_file = reader.variables("env_from_file");
  server.secret_files = reader.variables("secret_files");
  server.secret_memfds = reader.variables("secret_memfds");
}

void read_fences(TableReader& reader, ServerText& server) {
  server.run_as = reader.id("run_as");
  server.network = reader.text("network");
  if (auto egress = reader.table("egress")) server.egress = read_egress(std::move(*egress));
  server.profile = reader.text("profile");
  server.write_exec = reader.text("write_exec");
}

void read_bounds(TableReader& reader, ServerText& server) {
  if (auto limits = reader.table("limits")) server.limits = read_limits(std::move(*limits));
  if (auto lines = reader.table("lines")) server.lines = read_lines(std::move(*lines));
  if (auto start = reader.table("start")) server.start = read_start(std::move(*start));
  if (auto stop = reader.table("stop")) server.stop = read_stop(std::move(*stop));
}

void read_rights(TableReader& reader, ServerText& server) {
  if (auto allow = reader.table("allow")) server.allow = read_allow(std::move(*allow));
  server.client_features = reader.texts("client_features");
  server.max_cells_per_user = reader.integer("max_cells_per_user");
  server.era = reader.text("era");
  server.cells = reader.text("cells");
}

}  // namespace

ServerText read_server(std::string_view file, TextAt name, TableReader reader) {
  ServerText server;
  server.file = file;
  server.name = std::move(name);
  read_program(reader, server);
  read_files(reader, server);
  read_variables(reader, server);
  read_fences(reader, server);
  read_bounds(reader, server);
  read_rights(reader, server);
  return server;
}

}  // namespace cellblock
