#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config_reader/written.h"

/// The tables of a configuration file as they are written (config_text.h).
namespace cellblock {

/// An entry of `env_from_file`, `secret_files` or `secret_memfds` as it is written: a path, or a
/// table.
struct SecretText {
  TextAt name;
  Place at;  ///< of the value
  Maybe<std::string> file;
  Maybe<std::string> credential;
  Maybe<TextList> command;
  Maybe<std::string> timeout;
};

// `[redaction]` and `redact`.

/// `"redact"`, or `{ to_server = "log", to_host = "redact" }`
struct RedactionChoiceText {
  Maybe<std::string> both;
  Maybe<std::string> to_server;
  Maybe<std::string> to_host;
};

/// `NAME = ...` in `[redaction.detectors]`
struct DetectorText {
  TextAt name;
  RedactionChoiceText choice;
};

/// `[redaction.expressions.NAME]`
struct ExpressionText {
  TextAt name;
  Maybe<std::string> pattern;
  RedactionChoiceText action;
};

/// `[redaction]`, `[server.NAME.redaction]`
struct RedactionText {
  RedactionChoiceText secrets;
  RedactionChoiceText credentials;
  RedactionChoiceText pii;
  RedactionChoiceText phi;
  std::vector<DetectorText> detectors;
  std::vector<ExpressionText> expressions;
};

// `[server.NAME]`.

/// `[server.NAME.tool.TOOL]`
struct ToolText {
  TextAt name;
  Written keys;
  std::optional<Written> results;
};

struct AllowText {
  Place at;
  IdList users;
  IdList groups;
  TextList tools;
  Maybe<TextList> resources;
  Maybe<TextList> prompts;
};

/// `arguments.NAME` of a rule.
struct ConditionText {
  TextAt name;
  Maybe<ScalarText> equals;
  Maybe<ScalarList> one_of;
  Maybe<double> min;
  Maybe<double> max;
  Maybe<std::string> below;
  Maybe<bool> any;
  Maybe<bool> optional;
};

/// `[[server.NAME.rule]]`
struct RuleText {
  Place at;
  Maybe<std::string> effect;
  Maybe<std::string> approver;
  Maybe<std::string> approval_timeout;
  Maybe<IdList> users;
  Maybe<IdList> groups;
  Maybe<TextList> roles;
  Maybe<TextList> tools;
  Maybe<TextList> resources;
  Maybe<TextList> prompts;
  Maybe<TextList> features;
  std::vector<ConditionText> arguments;
};

/// `[[flows.rule]]`
struct FlowRuleText {
  Place at;
  Maybe<TextList> after;
  Maybe<TextList> before;
  Maybe<bool> copied;
  Maybe<std::string> effect;
  Maybe<std::string> approver;
  Maybe<std::string> approval_timeout;
  Maybe<IdList> users;
  Maybe<IdList> groups;
  Maybe<TextList> servers;
  Maybe<TextList> tools;
};

/// `[flows]`
struct FlowRulesText {
  Written keys;
  std::vector<FlowRuleText> rules;
};

struct EgressText {
  Place at;
  TextList allow;
  Maybe<std::int64_t> max_connections;
  Maybe<std::string> max_bytes;
  Maybe<std::int64_t> proxy;
};

struct WorkspaceText {
  Place at;
  TextList allow;
  Maybe<std::string> mode;
};

/// `[server.NAME.flows]`
struct FlowsText {
  Maybe<TextList> untrusted;
  Maybe<TextList> private_data;
  Maybe<TextList> egress;
  Maybe<TextList> destructive;
};

struct ServerText {
  std::string file;
  TextAt name;
  Maybe<bool> enabled;
  Maybe<TextList> command;
  Maybe<std::string> sha256;
  Maybe<std::string> program;
  Maybe<std::string> image;
  Maybe<std::string> working_directory;
  Maybe<IdText> run_as;
  Maybe<std::string> home;
  std::optional<WorkspaceText> workspace;
  Maybe<bool> execute_writable;
  TextList read;
  TextList write;
  std::vector<VariableText> home_files;  ///< name: below the home; value: of the host
  std::vector<VariableText> env;
  std::vector<SecretText> env_from_file;
  std::vector<SecretText> secret_files;
  std::vector<SecretText> secret_memfds;
  Maybe<std::string> network;
  std::optional<EgressText> egress;
  Maybe<std::string> profile;
  Maybe<std::string> write_exec;
  Written limits;
  Written lines;
  Written start;
  Written stop;
  Written restart;
  Written health;
  Written results;
  RedactionText redaction;
  std::optional<AllowText> allow;
  std::vector<RuleText> rules;
  Written calls;
  std::vector<ToolText> tools;
  TextList client_features;
  Maybe<std::int64_t> max_cells_per_user;
  Maybe<std::string> era;
  Maybe<std::string> cells;
  Maybe<std::string> pin;
  TextList accepted_definitions;
  Maybe<bool> validate_arguments;
  TextList always_listed;
  std::optional<FlowsText> flows;
};

/// `[listen.http]`
struct HttpText {
  Written keys;
  std::vector<Written> tokens;
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

/// broken: TOML that ends in a syntax error, of which nothing was kept.
enum class Syntax { good, broken };

struct ConfigText {
  std::string file;
  Syntax syntax = Syntax::good;
  Written daemon;
  Written socket;
  std::optional<HttpText> http;
  std::optional<Written> metrics;
  Written sandbox;
  Written catalogue;
  Written aggregate;
  std::optional<FlowRulesText> flows;
  Written audit;
  std::vector<ProfileText> profiles;
  std::vector<RoleText> roles;
  Written calls;
  Written results;
  RedactionText redaction;
  std::vector<ServerText> servers;
};

}  // namespace cellblock
