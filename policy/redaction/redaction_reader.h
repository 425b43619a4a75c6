#pragma once

#include "policy/redaction/redaction_text.h"
#include "policy/toml_reader.h"

namespace cellblock {

RedactionText read_redaction(TableReader reader);

}  // namespace cellblock
