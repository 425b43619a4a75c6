#pragma once

#include "policy/life/health_text.h"
#include "policy/toml_reader.h"

namespace cellblock {

HealthText read_health(TableReader reader);

}  // namespace cellblock
