#pragma once

#include "policy/config_reader/redaction_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

RedactionText read_redaction(TableReader reader);

}  // namespace cellblock
