#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/config/config.h"

/// Finds one server of a configuration by its name, unless it is left out as broken.
namespace cellblock {

/// By its name: after a reload the name says nothing about the index. Skips servers that are no
/// longer declared.
std::optional<std::uint32_t> server_index(const Config& config, std::string_view name);

/// Makes a server one of which nothing is started: it gets no secret and no mount of a user's
/// directory. Its rules stay, for they say who may hear why.
void leave_out(Server& server, Breakage why);

}  // namespace cellblock
