#pragma once

#include <string_view>

#include "policy/config/installation_keys.h"
#include "policy/config/server_keys.h"
#include "policy/config_reader/table_text.h"

/// The keys of the tables whose values mean something only together with others: one line for each,
/// run by what reads and what lists them. A line has the key, where it is kept, what is allowed,
/// the default, and what it is for. Tables with plain values are in config/installation_keys.h and
/// config/server_keys.h.
namespace cellblock {

inline constexpr std::string_view names_or_numbers = "names or numbers";
inline constexpr std::string_view patterns = "names, or a beginning with *";

/// `{ to_server = "log", to_host = "redact" }`
template <class Keys>
void visit_keys(Keys& k, RedactionChoiceText& v) {
  k.text("to_server", v.to_server, "an action", "as it is", "arguments, answers to questions");
  k.text("to_host", v.to_host, "an action", "as it is", "results, errors, notifications, stderr");
}

/// `[redaction.expressions.NAME]`
template <class Keys>
void visit_keys(Keys& k, ExpressionText& v) {
  k.text("pattern", v.pattern, "RE2, at most 1024 bytes", "required", "what is looked for");
  k.action("action", v.action, "\"off\"", "what is done about it");
}

/// `[redaction]`, `[server.NAME.redaction]`
template <class Keys>
void visit_keys(Keys& k, RedactionText& v) {
  k.action("secrets", v.secrets, "{ to_server = \"log\", to_host = \"redact\" }",
           "secrets that the server itself was given");
  k.action("credentials", v.credentials, "\"off\"", "keys, tokens and passwords of others");
  k.action("pii", v.pii, "\"off\"", "what names or reaches a person");
  k.action("phi", v.phi, "\"off\"", "what ties a person to an illness or an insurance");
  k.actions("detectors", v.detectors, "single detectors, whatever their sets say");
  k.named("expressions", v.expressions, "NAME", "expressions of your own, at most 64");
}

/// `[profile.NAME]`
template <class Keys>
void visit_keys(Keys& k, ProfileText& v) {
  k.text("base", v.base, "a built-in profile", "required", "what it begins with");
  k.texts("allow", v.allow, "names of system calls", "calls beyond the base: a weakening");
  k.texts("refuse", v.refuse, "names of system calls", "calls of the base that fail with EPERM");
  k.text("write_exec", v.write_exec, "\"refused\" or \"allowed\"", "the base's",
         "memory that is written and then executed");
}

/// `[role.NAME]`
template <class Keys>
void visit_keys(Keys& k, RoleText& v) {
  k.ids("users", v.users, "users who may take it");
  k.ids("groups", v.groups, "groups whose members may take it");
}

/// `[listen.http]`
template <class Keys>
void visit_keys(Keys& k, HttpText& v) {
  k.inside(v.keys, HttpListen{});
  k.plain_tables("token", v.tokens, HttpToken{}, "bearer tokens; at least one with address");
}

/// `[server.NAME.tool.TOOL]`
template <class Keys>
void visit_keys(Keys& k, ToolText& v) {
  k.inside(v.keys, ToolCalls{});
  k.plain("results", v.results, ResultBounds{}, "how much of its results is handed on");
}

/// `[server.NAME.allow]`
template <class Keys>
void visit_keys(Keys& k, AllowText& v) {
  k.place(v.at);
  k.ids("users", v.users, "who may use it");
  k.ids("groups", v.groups, "whose members may use it");
  k.texts("tools", v.tools, patterns, "which tools");
  k.texts("resources", v.resources, "URIs, or a beginning with *", "which resources");
  k.texts("prompts", v.prompts, patterns, "which prompts");
}

/// `arguments.NAME` of a rule
template <class Keys>
void visit_keys(Keys& k, ConditionText& v) {
  k.scalar("equals", v.equals, "the argument is this");
  k.scalars("one_of", v.one_of, "the argument is one of these");
  k.number("min", v.min, "the argument is a number of at least this");
  k.number("max", v.max, "the argument is a number of at most this");
  k.text("below", v.below, "a path", "", "the argument is a path below this one");
  k.flag("any", v.any, "", "the argument may be anything");
  k.flag("optional", v.optional, "false", "the argument may be left out");
}

/// `[[server.NAME.rule]]`
template <class Keys>
void visit_keys(Keys& k, RuleText& v) {
  k.place(v.at);
  k.text("effect", v.effect, "\"allow\", \"ask\" or \"deny\"", "required", "what it decides");
  k.text("approver", v.approver, "\"admin\" or \"user\"", "\"admin\"", "with ask: who is asked");
  k.text("approval_timeout", v.approval_timeout, "a time", "\"2m\"",
         "with ask: then it is refused; 5s to 1h");
  k.ids("users", v.users, "of whom it speaks; anybody where it names nobody");
  k.ids("groups", v.groups, "of whose members it speaks");
  k.texts("roles", v.roles, "names of roles", "of whom in these roles it speaks");
  k.texts("tools", v.tools, patterns, "of which tools it speaks");
  k.texts("resources", v.resources, "URIs, or a beginning with *", "of which resources it speaks");
  k.texts("prompts", v.prompts, patterns, "of which prompts it speaks");
  k.texts("features", v.features, "names of features", "of which features it speaks");
  k.named("arguments", v.arguments, "ARGUMENT", "of calls with which arguments it speaks");
}

/// `[[flows.rule]]`
template <class Keys>
void visit_keys(Keys& k, FlowRuleText& v) {
  k.place(v.at);
  k.texts("after", v.after, "\"untrusted\" and \"private\"",
          "labels that the context has, all of them; required");
  k.texts("before", v.before, "\"untrusted\", \"private\", \"egress\" and \"destructive\"",
          "labels of the call, at least one of them; required");
  k.flag("copied", v.copied, "false", "only where its arguments hold text that was read");
  k.text("effect", v.effect, "\"log\", \"ask\" or \"deny\"", "required",
         "what becomes of the call");
  k.text("approver", v.approver, "\"admin\" or \"user\"", "\"admin\"", "with ask: who is asked");
  k.text("approval_timeout", v.approval_timeout, "a time", "\"2m\"",
         "with ask: then it is refused; 5s to 1h");
  k.ids("users", v.users, "whose calls; everybody's where neither is written");
  k.ids("groups", v.groups, "whose members' calls");
  k.texts("servers", v.servers, "names of servers", "calls of which servers; of all without it");
  k.texts("tools", v.tools, patterns, "calls of which tools; without it reads and prompts too");
}

/// `[flows]`
template <class Keys>
void visit_keys(Keys& k, FlowRulesText& v) {
  k.inside(v.keys, FlowRules{});
  k.tables("rule", v.rules, "what becomes of which call after what was read");
}

/// `[server.NAME.egress]`
template <class Keys>
void visit_keys(Keys& k, EgressText& v) {
  k.place(v.at);
  k.texts("allow", v.allow, "NAME:PORT, *.NAME:PORT or ADDRESS/BITS:PORT", "what may be reached");
  k.integer("max_connections", v.max_connections, "1 to 1024", "64", "of one cell at one time");
  k.text("max_bytes", v.max_bytes, "a size", "", "of one cell, both ways together");
  k.integer("proxy", v.proxy, "a port", "", "CONNECT and SOCKS5 on 127.0.0.1 of the cell");
}

/// `[server.NAME.workspace]`
template <class Keys>
void visit_keys(Keys& k, WorkspaceText& v) {
  k.place(v.at);
  k.texts("allow", v.allow, "patterns of paths", "directories that a host may pass in");
  k.text("mode", v.mode, "\"ro\" or \"rw\"", "\"ro\"", "what the cell may do there");
}

/// `[server.NAME.flows]`
template <class Keys>
void visit_keys(Keys& k, FlowsText& v) {
  k.texts("untrusted", v.untrusted, patterns, "tools whose results others wrote");
  k.texts("private", v.private_data, patterns, "tools that give private data");
  k.texts("egress", v.egress, patterns, "tools that can send what they are told to others");
  k.texts("destructive", v.destructive, patterns, "tools that delete or overwrite");
}

/// An entry of `env_from_file`, `secret_files` or `secret_memfds` that is a table
template <class Keys>
void visit_keys(Keys& k, SecretText& v) {
  k.place(v.at);
  k.text("credential", v.credential, "a name", "", "of a credential of the service manager's");
  k.texts("command", v.command, "program and arguments", "that prints the secret at start");
  k.text("timeout", v.timeout, "a time", "\"10s\"", "with command");
}

template <class Keys>
void visit_program(Keys& k, ServerText& v) {
  k.flag("enabled", v.enabled, "true", "false: its uses are refused, nothing of it is started");
  k.texts("command", v.command, "program and arguments", "run without a shell; required");
  k.text("sha256", v.sha256, "64 hexadecimal digits", "", "what the command's file must be");
  k.text("program", v.program, "a path", "", "what it is installed in: seen read-only");
  k.text("image", v.image, "a path", "",
         "an unpacked image, seen read-only in place of the host's programs and libraries");
  k.text("working_directory", v.working_directory, "a path in the cell", "\"/home/mcp\"",
         "where the command starts");
}

template <class Keys>
void visit_files(Keys& k, ServerText& v) {
  k.texts("read", v.read, "paths", "what its cells may read of the host");
  k.texts("write", v.write, "paths", "what its cells may read and write of the host");
  k.variables("home_files", v.home_files, "files of the host, seen read-only in /home/mcp");
  k.text("home", v.home, "\"persistent\" or \"temporary\"", "\"persistent\"", "of /home/mcp");
  k.table("workspace", v.workspace, "directories that a host may pass in");
  k.flag("execute_writable", v.execute_writable, "false",
         "true: files that it can write may be executed, a weakening");
}

template <class Keys>
void visit_variables(Keys& k, ServerText& v) {
  k.variables("env", v.env, "environment variables");
  k.secrets("env_from_file", v.env_from_file, "secrets as variables");
  k.secrets("secret_files", v.secret_files, "secrets as files below /run/secrets");
  k.secrets("secret_memfds", v.secret_memfds, "secrets as sealed memory");
}

template <class Keys>
void visit_fences(Keys& k, ServerText& v) {
  k.id("run_as", v.run_as, "\"auto\", \"own\", \"client\" or a user", "\"auto\"",
       "whom the host's kernel takes it for");
  k.text("network", v.network, "\"none\", \"loopback\", \"egress\" or \"host\"", "\"none\"",
         "what it can reach; host is a weakening");
  k.table("egress", v.egress, "with network = \"egress\": what may be reached");
  k.text("profile", v.profile, "a built-in profile or one of [profile.NAME]", "\"native\"",
         "which system calls its runtime needs");
  k.text("write_exec", v.write_exec, "\"refused\" or \"allowed\"", "the profile's",
         "memory that is written and then executed");
}

template <class Keys>
void visit_bounds(Keys& k, ServerText& v) {
  Server shape;
  k.plain("limits", v.limits, shape.limits, "of what the kernel gives a cell");
  k.plain("lines", v.lines, shape.lines, "of one message");
  k.plain("start", v.start, StartTable{shape.start, shape.timeouts}, "when a cell starts");
  k.plain("stop", v.stop, StopTable{shape.stop, shape.timeouts}, "how and when a cell ends");
  k.plain("restart", v.restart, shape.restart, "when it may start again after it failed");
  k.plain("health", v.health, shape.health, "whether it still answers");
  k.plain("results", v.results, shape.results.bounds, "how much of a result is handed on");
  k.table("redaction", v.redaction, "what differs from [redaction]");
  k.plain("calls", v.calls, shape.calls, "how many calls, and how long one may take");
  k.named("tool", v.tools, "TOOL", "what differs for single tools");
}

template <class Keys>
void visit_rights(Keys& k, ServerText& v) {
  k.table("allow", v.allow, "who may use which tools; nobody where it is not there");
  k.tables("rule", v.rules, "who may do what, with which arguments");
  k.texts("client_features", v.client_features, "\"roots\", \"sampling\", \"elicitation\"",
          "what it may ask of the host's client: a weakening");
  k.integer("max_cells_per_user", v.max_cells_per_user, "1 to 1024", "16",
            "of this server, spare ones included");
  k.text("era", v.era, "\"auto\", \"legacy\" or \"modern\"", "\"auto\"",
         "which revisions of MCP it speaks");
  k.text("cells", v.cells, "\"per-session\" or \"per-user\"", "\"per-session\"",
         "who shares a cell");
  k.text("pin", v.pin, "\"tofu\", \"manual\" or \"off\"", "\"tofu\"",
         "which definitions of tools are let pass");
  k.texts("accepted_definitions", v.accepted_definitions,
          "digests, as cellblock approve show prints them",
          "definitions that are let pass for every user, without a decision for each");
  k.flag("validate_arguments", v.validate_arguments, "true",
         "arguments of calls are held to the tool's inputSchema");
  k.texts("always_listed", v.always_listed, patterns,
          "where a host finds tools by search: which it is listed all the same");
  k.table("flows", v.flows, "which tools bring in, and send, what");
}

/// `[server.NAME]`
template <class Keys>
void visit_keys(Keys& k, ServerText& v) {
  visit_program(k, v);
  visit_files(k, v);
  visit_variables(k, v);
  visit_fences(k, v);
  visit_bounds(k, v);
  visit_rights(k, v);
}

/// The tables of the main file that are no server's.
template <class Keys>
void visit_installation(Keys& k, ConfigText& v) {
  Config shape;
  ResultBounds bounds;
  k.plain("daemon", v.daemon, DaemonTable{shape}, "whom it runs as, where it keeps what");
  k.plain("socket", v.socket, Listen{}, "where hosts connect");
  k.listen("http", v.http, "MCP over HTTP; off unless declared");
  k.plain("metrics", v.metrics, MetricsListen{}, "numbers for Prometheus; off unless declared");
  k.plain("sandbox", v.sandbox, Kernel{}, "what the kernel must have");
  k.plain("catalogue", v.catalogue, CatalogueRules{}, "what is kept of servers' lists");
  k.plain("aggregate", v.aggregate, AggregateRules{}, "all servers as one");
  k.table("flows", v.flows, "what may be sent after what was read");
  k.plain("audit", v.audit, AuditRules{}, "how the audit log is kept");
  k.named("profile", v.profiles, "NAME", "profiles of system calls of your own");
  k.named("role", v.roles, "NAME", "who may take which role");
  k.plain("calls", v.calls, UserCalls{}, "how many calls one user may make of all servers");
  k.plain("results", v.results, ResultsTable{bounds, shape.results}, "the default of all servers");
  k.table("redaction", v.redaction, "what is looked for in what passes");
}

template <class Keys>
void visit_servers(Keys& k, ConfigText& v) {
  k.named("server", v.servers, "NAME", "the servers; at most 256");
}

}  // namespace cellblock
