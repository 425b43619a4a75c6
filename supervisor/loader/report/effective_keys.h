#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"

/// The effective value of each key, written or default. Pure; a Config holds no secret.
namespace cellblock {

struct EffectiveKey {
  std::string path;   ///< "server.files.limits.memory"
  std::string value;  ///< in TOML; empty: no value, and no bound
  bool operator==(const EffectiveKey&) const = default;
};

/// The keys of one server, without its rules (explain_rights.h).
std::vector<EffectiveKey> effective_keys(const Server& server);
/// The keys of the tables that belong to no server.
std::vector<EffectiveKey> effective_keys(const Config& config);

/// `cellblockd --check --effective`: TOML, each key on a line of its own; rules as comments.
std::string effective_text(const Config& config);

struct ChangedKey {
  std::string path;
  std::string from;
  std::string to;
};

/// The keys whose values differ: of servers that have the same place in both, and of the other
/// tables. Without `env`, whose values are not for every reader of a log.
std::vector<ChangedKey> changed_keys(const Config& used, const Config& fresh);

}  // namespace cellblock
