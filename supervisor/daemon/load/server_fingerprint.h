#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "policy/config/config.h"

namespace cellblock {

/// SHA-256 of all that may change what is found of a server: its declaration, how long it may take
/// to say its era where that is not declared, and the state (device,
/// inode, size, change time) of the files that its command names and of everything below its
/// `program` (those of its paths that are in `programs`). What cannot be looked at counts as not
/// there. Nobody's decision rests on it but whether a kept catalogue is still the server's.
/// Blocking.
std::array<std::uint8_t, 32> server_fingerprint(const Server& server, const CatalogueRules& rules,
                                                const std::set<std::string>& programs);

}  // namespace cellblock
