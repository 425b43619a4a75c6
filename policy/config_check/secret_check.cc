#include "policy/config_check/secret_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "policy/config_check/environment_check.h"
#include "policy/config_check/secret_origin_check.h"

namespace cellblock {
namespace {

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
