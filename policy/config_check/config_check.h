#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/host_facts.h"
#include "policy/config_reader/complaint.h"
#include "policy/config_reader/config_text.h"
#include "policy/sandbox/weakenings.h"

/// The whole check: text structs and facts about the host -> a checked Config, or all complaints at
/// once. Pure.
namespace cellblock {

/// `[audit]`: how the log is kept.
AuditRules check_audit(Complaints& complaints, const ConfigText& main);

/// `[catalogue]`: what is kept of the servers' lists.
CatalogueRules check_catalogue(Complaints& complaints, const ConfigText& main);

struct CheckRequest {
  RunMode mode = RunMode::system;
  std::optional<std::string> socket_override;  ///< --socket: instead of socket.path
  std::span<const ConfigText> files;           ///< the main file first
};

/// Adds errors and warnings to `complaints`. The value is usable only if that holds no errors.
Config check_config(const CheckRequest& request, const HostFacts& facts, Complaints& complaints);

}  // namespace cellblock
