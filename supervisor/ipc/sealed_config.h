#pragma once

#include <cstddef>
#include <string>

#include "policy/base/result.h"
#include "policy/config/config.h"

namespace cellblock {

/// Reads the configuration that the supervisor sealed, and checks that it is sealed. `sealed` stays
/// the caller's.
Result<Config> read_sealed_config(int sealed);

inline constexpr std::size_t max_declared_bytes = 16U << 20;

/// What comes beside it for administrators (loader/report/declared_parts.h), likewise.
Result<std::string> read_declared_parts(int sealed);

}  // namespace cellblock
