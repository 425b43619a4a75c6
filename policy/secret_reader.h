#pragma once

#include <optional>
#include <vector>

#include "policy/secret_text.h"
#include "policy/toml_reader.h"

namespace cellblock {

/// One table of secrets. Entries of a wrong type are complained about and left out.
std::vector<SecretText> read_secrets(std::optional<TableReader> table);

}  // namespace cellblock
