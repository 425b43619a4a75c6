#include "policy/config_check/secret_origin_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "policy/config/path_rules.h"
#include "policy/config_check/command_check.h"
#include "policy/config_check/credential_name.h"

namespace cellblock {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_arguments = 64;
constexpr std::size_t longest_argument = 4096;
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

bool check_arguments(const Scope& scope, const TextList& texts) {
  for (const TextAt& text : texts) {
    const bool has_nul = text.value.find('\0') != std::string::npos;
    if (!has_nul && text.value.size() <= longest_argument) continue;
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
  if (texts.empty() || texts.size() > most_arguments) {
    scope.error(text.command->at, "command",
                fmt::format("has {} parts; allowed: 1 to {}", texts.size(), most_arguments));
    return false;
  }
  check_duration(scope, "timeout", text.timeout, timeouts, command.timeout);
  if (scope.mentioned("timeout")) return false;
  for (const TextAt& part : texts) command.argv.push_back(part.value);
  return check_arguments(scope, texts) && check_program(scope, texts.front(), facts);
}

// One of the wrong type has been complained about, and is none.
bool has_been_refused(const Scope& scope) {
  const auto keys = {"credential", "command", "timeout"};
  return std::ranges::any_of(keys, [&](const char* key) { return scope.mentioned(key); });
}

}  // namespace

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

}  // namespace cellblock
