#pragma once

#include "policy/config_reader/health_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

HealthText read_health(TableReader reader);

}  // namespace cellblock
