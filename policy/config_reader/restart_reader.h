#pragma once

#include "policy/config_reader/restart_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

RestartText read_restart(TableReader reader);

}  // namespace cellblock
