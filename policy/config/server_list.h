#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/config/config.h"

/// One server among those of a configuration: found by its name, or left out because it is broken.
namespace cellblock {

/// By its name, which after a reload says nothing about its place; not one that is not declared any
/// more.
std::optional<std::uint32_t> server_index(const Config& config, std::string_view name);

/// Makes a server one of which nothing is started: it gets no secret and no mount of a user's
/// directory. Its rules stay, for they say who may hear why.
void leave_out(Server& server, Breakage why);

}  // namespace cellblock
