#pragma once

#include "policy/life/restart_text.h"
#include "policy/toml_reader.h"

namespace cellblock {

RestartText read_restart(TableReader reader);

}  // namespace cellblock
