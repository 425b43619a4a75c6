#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "policy/config/config.h"

/// Whom the host's kernel takes a cell for. Pure.
namespace cellblock::launcher {

struct HostIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  bool operator==(const HostIds&) const = default;
};

/// For RunAsKind::client and named; nullopt: nobody whom the launcher could be (no id map for him).
/// Root is never one.
std::optional<HostIds> declared_identity(const RunAs& run_as, std::uint32_t user,
                                         const std::vector<ClientId>& clients);

}  // namespace cellblock::launcher
