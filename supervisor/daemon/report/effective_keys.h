#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"

/// What holds, key by key, written or not. Pure; no secret is part of a Config.
namespace cellblock {

struct EffectiveKey {
  std::string path;   ///< "server.files.limits.memory"
  std::string value;  ///< as TOML has it; empty: there is no value, and no bound
  bool operator==(const EffectiveKey&) const = default;
};

/// Of one server; its rules are not among them (explain_rights.h).
std::vector<EffectiveKey> effective_keys(const Server& server);
/// Of the tables that are no server's.
std::vector<EffectiveKey> effective_keys(const Config& config);

/// `cellblockd --check --effective`: TOML, each key on a line of its own; rules as comments.
std::string effective_text(const Config& config);

struct ChangedKey {
  std::string path;
  std::string from;
  std::string to;
};

/// Those of servers that stand in both at the same place, and of the rest, whose values differ;
/// without `env`, whose values are not for every reader of a log.
std::vector<ChangedKey> changed_keys(const Config& used, const Config& fresh);

}  // namespace cellblock
