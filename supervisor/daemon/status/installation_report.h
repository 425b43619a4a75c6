#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "policy/config/config.h"

/// The status of the whole installation for an administrator, as raw JSON.
namespace cellblock {

/// What the running daemon knows beside its configuration.
struct InstallationState {
  bool switched_off = false;                 ///< by an administrator
  std::optional<std::uint32_t> switched_by;  ///< a uid; nothing: not known
  std::string reason;                        ///< his, of switching it off
  bool audit_runs = true;                    ///< the audit writer
  std::size_t users = 0;                     ///< that have a gateway
  std::uint32_t cells = 0;
  std::string last_failure;  ///< of one of cellblock's own processes; empty: none
};

/// The state, and behind it what is declared: report/declared_parts.h, as it came with `config`.
std::string installation_json(const Config& config, const InstallationState& state,
                              std::string_view declared);

}  // namespace cellblock
