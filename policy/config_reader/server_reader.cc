#include "policy/config_reader/server_reader.h"

#include <utility>

#include "policy/config/server_keys.h"
#include "policy/config_reader/key_types.h"
#include "policy/config_reader/redaction_reader.h"
#include "policy/config_reader/secret_reader.h"

namespace cellblock {
namespace {

ToolText read_tool(TextAt name, TableReader reader) {
  ToolText tool{.name = std::move(name), .keys = write_down(reader, ToolCalls{}), .results = {}};
  if (auto results = reader.table("results")) tool.results = write_down(*results, ResultBounds{});
  return tool;
}

std::vector<ToolText> read_tools(TableReader tools) {
  std::vector<ToolText> texts;
  for (TextAt& name : tools.names()) {
    auto tool = tools.table(name.value);
    if (tool) texts.push_back(read_tool(std::move(name), std::move(*tool)));
  }
  return texts;
}

AllowText read_allow(TableReader reader) {
  AllowText allow;
  allow.at = reader.at();
  allow.users = reader.ids("users");
  allow.groups = reader.ids("groups");
  allow.tools = reader.texts("tools");
  allow.resources = reader.located_texts("resources");
  allow.prompts = reader.located_texts("prompts");
  return allow;
}

ConditionText read_condition(TextAt argument, TableReader reader) {
  ConditionText condition{.argument = std::move(argument)};
  condition.equals = reader.scalar("equals");
  condition.one_of = reader.scalars("one_of");
  condition.min = reader.number("min");
  condition.max = reader.number("max");
  condition.below = reader.text("below");
  condition.any = reader.boolean("any");
  condition.optional = reader.boolean("optional");
  return condition;
}

void read_conditions(TableReader arguments, RuleText& rule) {
  for (TextAt& name : arguments.names()) {
    auto condition = arguments.table(name.value);
    if (!condition) continue;
    rule.arguments.push_back(read_condition(std::move(name), std::move(*condition)));
  }
}

RuleText read_rule(TableReader reader) {
  RuleText rule;
  rule.at = reader.at();
  rule.effect = reader.text("effect");
  rule.approver = reader.text("approver");
  rule.approval_timeout = reader.text("approval_timeout");
  rule.users = reader.located_ids("users");
  rule.groups = reader.located_ids("groups");
  rule.roles = reader.located_texts("roles");
  rule.tools = reader.located_texts("tools");
  rule.resources = reader.located_texts("resources");
  rule.prompts = reader.located_texts("prompts");
  rule.features = reader.located_texts("features");
  if (auto arguments = reader.table("arguments")) read_conditions(std::move(*arguments), rule);
  return rule;
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
  server.enabled = reader.boolean("enabled");
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
  server.env_from_file = read_secrets(reader.table("env_from_file"));
  server.secret_files = read_secrets(reader.table("secret_files"));
  server.secret_memfds = read_secrets(reader.table("secret_memfds"));
}

void read_fences(TableReader& reader, ServerText& server) {
  server.run_as = reader.id("run_as");
  server.network = reader.text("network");
  if (auto egress = reader.table("egress")) server.egress = read_egress(std::move(*egress));
  server.profile = reader.text("profile");
  server.write_exec = reader.text("write_exec");
}

void read_bounds(TableReader& reader, ServerText& server) {
  Server shape;
  if (auto limits = reader.table("limits")) server.limits = write_down(*limits, Limits{});
  if (auto lines = reader.table("lines")) server.lines = write_down(*lines, LineLimits{});
  const StartTable starts{shape.start, shape.timeouts};
  const StopTable stops{shape.stop, shape.timeouts};
  if (auto start = reader.table("start")) server.start = write_down(*start, starts);
  if (auto stop = reader.table("stop")) server.stop = write_down(*stop, stops);
  if (auto restart = reader.table("restart")) server.restart = write_down(*restart, RestartRules{});
  if (auto health = reader.table("health")) server.health = write_down(*health, HealthRules{});
  if (auto results = reader.table("results")) server.results = write_down(*results, ResultBounds{});
  if (auto table = reader.table("redaction")) server.redaction = read_redaction(std::move(*table));
  if (auto calls = reader.table("calls")) server.calls = write_down(*calls, ServerCalls{});
  if (auto tools = reader.table("tool")) server.tools = read_tools(std::move(*tools));
}

void read_rights(TableReader& reader, ServerText& server) {
  if (auto allow = reader.table("allow")) server.allow = read_allow(std::move(*allow));
  for (TableReader& rule : reader.tables("rule"))
    server.rules.push_back(read_rule(std::move(rule)));
  server.client_features = reader.texts("client_features");
  server.max_cells_per_user = reader.integer("max_cells_per_user");
  server.era = reader.text("era");
  server.cells = reader.text("cells");
  server.pin = reader.text("pin");
  server.validate_arguments = reader.boolean("validate_arguments");
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
