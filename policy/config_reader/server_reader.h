#pragma once

#include <string_view>

#include "policy/config_reader/server_text.h"
#include "policy/config_reader/toml_reader.h"

namespace cellblock {

/// `[server.NAME]` in the TOML -> ServerText. Complains about types and unknown keys.
ServerText read_server(std::string_view file, TextAt name, TableReader reader);

}  // namespace cellblock
