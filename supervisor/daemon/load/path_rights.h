#pragma once

#include <cstdint>
#include <optional>

#include "policy/config/config.h"

namespace cellblock::daemon {

/// Whom to ask as.
struct AskedIdentity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  /// Entered first (setns(2)), where these ids are this process's to become only there; -1: none.
  int user_namespace = -1;
};

/// What the kernel lets that identity do with an open file or directory, asked by a child that has
/// become it and left all groups (faccessat2(2)). nullopt: the child could not become it. Blocking;
/// the caller has one thread.
std::optional<PathRights> rights_at(int descriptor, bool is_directory,
                                    const AskedIdentity& identity);

/// What this process itself may do there.
PathRights own_rights_at(int descriptor, bool is_directory);

}  // namespace cellblock::daemon
