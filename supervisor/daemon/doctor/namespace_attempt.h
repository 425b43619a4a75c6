#pragma once

#include <cstdint>
#include <optional>

#include "policy/doctor/machine_checks.h"

namespace cellblock::daemon {

struct AttemptIds {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

/// Makes the namespaces of a cell in a child, in the launcher's way, and mounts a proc in them:
/// whatever stands against it (sysctls, AppArmor, a container's masks) answers for itself. `as`:
/// whom the child becomes before; root alone can say so. Nothing is left. Blocking; the caller has
/// one thread.
NamespaceAttempt attempt_namespaces(std::optional<AttemptIds> as);

}  // namespace cellblock::daemon
