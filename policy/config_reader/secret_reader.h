#pragma once

#include <optional>
#include <vector>

#include "policy/config_reader/secret_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

/// One table of secrets. Entries of a wrong type are complained about and left out.
std::vector<SecretText> read_secrets(std::optional<TableReader> table);

}  // namespace cellblock
