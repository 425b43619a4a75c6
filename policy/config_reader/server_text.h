#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policy/config_reader/located.h"
#include "policy/config_reader/redaction_text.h"
#include "policy/config_reader/secret_text.h"
#include "policy/config_reader/written.h"

/// `[server.NAME]` as it is written (config_text.h).
namespace cellblock {

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
  Maybe<bool> validate_arguments;
  TextList always_listed;
};

}  // namespace cellblock
