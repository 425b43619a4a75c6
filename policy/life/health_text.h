#pragma once

#include <string>

#include "policy/located.h"

namespace cellblock {

/// `[server.NAME.health]` as it is written.
struct HealthText {
  Maybe<std::string> ping;
  Maybe<std::string> timeout;
};

}  // namespace cellblock
