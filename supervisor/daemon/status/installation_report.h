#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"

/// The status of the whole installation for an administrator, as raw JSON. Pure.
namespace cellblock {

/// The running daemon's state beside its configuration.
struct InstallationState {
  bool switched_off = false;                 ///< by an administrator
  std::optional<std::uint32_t> switched_by;  ///< a uid; nullopt: not known
  std::string reason;                        ///< given by that administrator
  bool audit_runs = true;                    ///< whether the audit writer runs
  std::size_t users = 0;                     ///< users with a gateway
  std::uint32_t cells = 0;
  std::string last_failure;  ///< of one of cellblock's own processes; empty: none
};

/// The state, followed by `declared` (report/declared_parts.h), which came with `config`.
std::string installation_json(const Config& config, const InstallationState& state,
                              std::string_view declared);

}  // namespace cellblock
