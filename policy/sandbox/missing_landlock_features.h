#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cellblock {

/// What a kernel with this Landlock ABI (0: none) cannot fence in by it, a line each, with what
/// stands in its place. Empty: nothing that cellblock uses.
std::vector<std::string> landlock_lacks(std::uint32_t abi);

}  // namespace cellblock
