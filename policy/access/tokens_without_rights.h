#pragma once

#include <cstdint>
#include <set>

#include "policy/config/config.h"

/// Bearer tokens that are good for nothing.
namespace cellblock {

/// By index in HttpListen::tokens: those whose user no server allows. With --user there are none:
/// what its one user may use is said by each server.
std::set<std::uint32_t> idle_tokens(const Config& config);

}  // namespace cellblock
