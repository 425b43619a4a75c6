#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "policy/config/config.h"

namespace cellblock {

/// By its name, which after a reload says nothing about its place; not one that is not declared any
/// more.
std::optional<std::uint32_t> server_index(const Config& config, std::string_view name);

}  // namespace cellblock
