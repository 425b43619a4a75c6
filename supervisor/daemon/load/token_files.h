#pragma once

#include <sys/types.h>

#include <span>
#include <string>

#include "policy/config/host_facts.h"

/// Files of `[[listen.http.token]]`. Read once, by the supervisor alone, which keeps the digest and
/// wipes the rest.
namespace cellblock {

inline constexpr std::size_t shortest_token = 32;

/// Owner, mode and place as read_secret_file() wants them; one line of visible ASCII of at least
/// `shortest_token` characters. What is wrong is said without quoting any of it.
TokenFacts look_at_token(const std::string& path, std::span<const uid_t> owners);

}  // namespace cellblock
