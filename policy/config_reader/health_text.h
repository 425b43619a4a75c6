#pragma once

#include <string>

#include "policy/config_reader/located.h"

namespace cellblock {

/// `[server.NAME.health]` as it is written.
struct HealthText {
  Maybe<std::string> ping;
  Maybe<std::string> timeout;
};

}  // namespace cellblock
