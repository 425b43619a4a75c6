#include "policy/config_check/secret_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <utility>

#include "policy/base/printable.h"
#include "policy/config/path_rules.h"
#include "policy/config_check/command_check.h"
#include "policy/config_check/secret_path.h"
#include "policy/config_reader/table_text.h"
#include "policy/sandbox/environment_rules.h"

namespace cellblock {
namespace {

constexpr std::size_t longest_credential_name = 255;

bool is_allowed(char letter) {
  return letter >= ' ' && letter <= '~' && letter != '/' && letter != ':';
}

}  // namespace

std::optional<std::string> credential_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name == "." || name == "..") return "is a directory's name";
  if (name.size() > longest_credential_name) return "is too long";
  if (!std::ranges::all_of(name, is_allowed)) {
    return "has \"/\", \":\", a control character or more than ASCII in it";
  }
  return std::nullopt;
}

namespace {

constexpr std::size_t most_variables = 256;
constexpr std::size_t longest_value = 64U << 10;

Result<std::string> with_known_placeholders(const std::string& value, const ServerText& server) {
  std::string filled = CELLBLOCK_TRY(with_secret_paths(value, server, Escape::kept));
  const auto unknown = unknown_placeholder(filled);
  if (!unknown) return filled;
  return fail(
      fmt::format("\"{}\" is not known to this version; allowed: \"${{client.user}}\", "
                  "\"${{client.uid}}\", \"${{secret:NAME}}\", or \"$${{\" for the characters "
                  "themselves",
                  printable(*unknown)));
}

Result<std::string> checked_value(const std::string& value, const ServerText& server) {
  if (value.find('\0') != std::string::npos || value.size() > longest_value) {
    return fail("is too long or has a NUL in it; allowed: at most 64KiB of any other bytes");
  }
  return with_known_placeholders(value, server);
}

bool too_many(const Scope& scope, Place at, std::size_t count) {
  if (count <= most_variables) return false;
  scope.error(at, "", fmt::format("{} variables; allowed: at most {}", count, most_variables));
  return true;
}

}  // namespace

bool check_variable_name(const Scope& scope, const TextAt& name) {
  if (!is_variable_name(name.value)) {
    scope.error(name.at, name.value,
                "is no variable name; allowed: [A-Za-z_][A-Za-z0-9_]*, at most 128 bytes");
    return false;
  }
  if (auto problem = variable_problem(name.value)) {
    scope.error(name.at, name.value, fmt::format("{}; allowed: other variables", *problem));
    return false;
  }
  return true;
}

std::vector<EnvironmentVariable> check_environment(const Scope& scope, const ServerText& text) {
  std::vector<EnvironmentVariable> environment;
  const Scope here = scope.below("env");
  if (too_many(here, text.name.at, text.env.size())) return environment;
  for (const VariableText& variable : text.env) {
    if (!check_variable_name(here, variable.name)) continue;
    auto value = checked_value(variable.value.value, text);
    if (value) {
      environment.push_back({variable.name.value, *std::move(value)});
    } else {
      here.error(variable.value.at, variable.name.value, value.error().text);
    }
  }
  return environment;
}

namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_secret_arguments = 64;
constexpr std::size_t longest_secret_argument = 4096;
constexpr Range<milliseconds> timeouts{milliseconds(100), milliseconds(60'000)};
constexpr std::string_view allowed_program =
    "allowed: a program that, with every directory above it, only root (or, rootless, you) can "
    "change";

bool check_file(const Scope& scope, const SecretText& text, const HostFacts& facts,
                SecretVariable& secret) {
  check_path(scope, text.name.value, text.file, secret.from);
  if (secret.from.empty()) return false;
  if (facts.closed_secrets.contains(secret.from)) {
    scope.warning(
        text.at, text.name.value,
        fmt::format("\"{}\" is not looked at here: this user may not read it", secret.from));
    return true;
  }
  const auto bad = facts.bad_secrets.find(secret.from);
  if (bad == facts.bad_secrets.end()) return true;
  scope.broken(text.at, text.name.value,
               fmt::format("\"{}\" {}; allowed: a file of root's or the daemon's user's (or, "
                           "rootless, yours) with mode 0600 or 0400",
                           secret.from, bad->second));
  return false;
}

bool check_credential(const Scope& scope, const TextAt& name, const HostFacts& facts,
                      SecretVariable& secret) {
  secret.origin = SecretOrigin::credential;
  secret.from = name.value;
  if (auto problem = credential_problem(name.value)) {
    scope.error(name.at, "credential",
                fmt::format("{}; allowed: the name of a credential in cellblockd's unit, ASCII "
                            "without \"/\" and \":\", at most 255 bytes",
                            *problem));
    return false;
  }
  if (facts.credentials == Credentials::not_here) {
    scope.warning(name.at, "credential",
                  fmt::format("\"{}\" is not looked at here: the service alone has its "
                              "credentials, and leaves this server out without this one",
                              name.value));
    return true;
  }
  const auto bad = facts.bad_credentials.find(name.value);
  if (bad == facts.bad_credentials.end()) return true;
  scope.broken(name.at, "credential",
               fmt::format("\"{0}\" {1}; allowed: one that systemd gives to cellblockd "
                           "(LoadCredential={0}:/path in its unit)",
                           name.value, bad->second));
  return false;
}

bool check_secret_arguments(const Scope& scope, const TextList& texts) {
  for (const TextAt& text : texts) {
    const bool has_nul = text.value.find('\0') != std::string::npos;
    if (!has_nul && text.value.size() <= longest_secret_argument) continue;
    scope.error(text.at, "command",
                "an argument is too long or has a NUL in it; allowed: at most 4096 other bytes");
    return false;
  }
  return true;
}

bool check_program(const Scope& scope, const TextAt& program, const HostFacts& facts) {
  if (auto problem = path_problem(program.value)) {
    scope.error(program.at, "command",
                fmt::format("\"{}\" {}; allowed: [\"/absolute/path/of/the/program\", \"argument\", "
                            "...], run without a shell",
                            program.value, *problem));
    return false;
  }
  const auto found = facts.secret_commands.find(program.value);
  if (found == facts.secret_commands.end()) return true;
  if (!found->second.unsafe.empty()) {
    scope.broken(program.at, "command",
                 fmt::format("somebody else could change \"{}\": {}; {}", program.value,
                             found->second.unsafe, allowed_program));
    return false;
  }
  if (auto reason = why_it_will_not_start(found->second.state)) {
    scope.broken(program.at, "command",
                 fmt::format("\"{}\" {}; {}", program.value, *reason, allowed_program));
    return false;
  }
  if (found->second.set_id == SetId::yes) {
    scope.warning(
        program.at, "command",
        fmt::format("{} is set-uid or set-gid, which has no effect here", found->second.host_path));
  }
  return true;
}

bool check_command(const Scope& scope, const SecretText& text, const HostFacts& facts,
                   SecretVariable& secret) {
  secret.origin = SecretOrigin::command;
  SecretCommand& command = secret.command.emplace();
  const TextList& texts = text.command->value;
  if (texts.empty() || texts.size() > most_secret_arguments) {
    scope.error(text.command->at, "command",
                fmt::format("has {} parts; allowed: 1 to {}", texts.size(), most_secret_arguments));
    return false;
  }
  check_duration(scope, "timeout", text.timeout, timeouts, command.timeout);
  if (scope.mentioned("timeout")) return false;
  for (const TextAt& part : texts) command.argv.push_back(part.value);
  return check_secret_arguments(scope, texts) && check_program(scope, texts.front(), facts);
}

// One of the wrong type has been complained about, and is none.
bool has_been_refused(const Scope& scope) {
  const auto keys = {"credential", "command", "timeout"};
  return std::ranges::any_of(keys, [&](const char* key) { return scope.mentioned(key); });
}

// Where a secret's value comes from, into `secret`. False: nowhere good, and complained about.
bool check_secret_origin(const Scope& scope, const SecretText& text, const HostFacts& facts,
                         SecretVariable& secret) {
  if (text.file) return check_file(scope, text, facts, secret);
  const Scope here = scope.below(text.name.value);
  if (has_been_refused(here)) return false;
  if (text.credential.has_value() == text.command.has_value()) {
    scope.error(text.at, text.name.value,
                fmt::format("has {}; allowed: one of them",
                            text.command ? "both credential and command"
                                         : "neither credential nor command"));
    return false;
  }
  if (text.command) return check_command(here, text, facts, secret);
  if (!text.timeout) return check_credential(here, *text.credential, facts, secret);
  here.error(text.timeout->at, "timeout", "goes with command; allowed: none with credential");
  return false;
}

constexpr std::size_t most_secrets = 256;
constexpr std::size_t most_memfds = 8;  // each stays open in the server, whose least limit is 16

struct Kind {
  std::string_view key;
  SecretDelivery delivery;
  std::size_t most;
  const std::vector<SecretText>& texts;
};

/// The variable that the server finds the secret by.
std::string variable_of(const SecretVariable& secret) {
  switch (secret.delivery) {
    case SecretDelivery::environment:
      break;
    case SecretDelivery::file:
      return secret.name + "_FILE";
    case SecretDelivery::memfd:
      return secret.name + "_FD";
  }
  return secret.name;
}

class SecretCheck {
 public:
  SecretCheck(const Scope& scope, const ServerText& text, const HostFacts& facts)
      : scope_(scope), facts_(facts), at_(text.name.at) {
    for (const VariableText& variable : text.env) variables_.insert(variable.name.value);
  }

  void add(const Kind& kind) {
    const Scope here = scope_.below(kind.key);
    if (kind.texts.size() > kind.most) {
      return here.error(
          at_, "", fmt::format("{} secrets; allowed: at most {}", kind.texts.size(), kind.most));
    }
    for (const SecretText& text : kind.texts) add(here, text, kind.delivery);
  }

  std::vector<SecretVariable> take() { return std::move(secrets_); }

 private:
  void add(const Scope& here, const SecretText& text, SecretDelivery delivery) {
    if (!check_variable_name(here, text.name)) return;
    SecretVariable secret{.name = text.name.value, .from = {}, .delivery = delivery};
    const bool first = names_.insert(secret.name).second;
    if (!first || !variables_.insert(variable_of(secret)).second) {
      here.error(text.name.at, secret.name,
                 fmt::format("{} is taken already; allowed: each name once in env, env_from_file, "
                             "secret_files and secret_memfds, with NAME_FILE and NAME_FD",
                             first ? variable_of(secret) : secret.name));
    } else if (check_secret_origin(here, text, facts_, secret)) {
      secrets_.push_back(std::move(secret));
    }
  }

  const Scope& scope_;
  const HostFacts& facts_;
  Place at_;
  std::set<std::string> names_;
  std::set<std::string> variables_;
  std::vector<SecretVariable> secrets_;
};

}  // namespace

std::vector<SecretVariable> check_secrets(const Scope& scope, const ServerText& text,
                                          const HostFacts& facts) {
  SecretCheck check(scope, text, facts);
  check.add({"env_from_file", SecretDelivery::environment, most_secrets, text.env_from_file});
  check.add({"secret_files", SecretDelivery::file, most_secrets, text.secret_files});
  check.add({"secret_memfds", SecretDelivery::memfd, most_memfds, text.secret_memfds});
  return check.take();
}

}  // namespace cellblock
