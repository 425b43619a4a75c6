#pragma once

#include <string_view>

#include "policy/config/host_facts.h"

/// Facts about a host that a test writes down: tests/config/host.toml says how.
namespace cellblock {

/// Adds to `facts` what `text` says, key by key; throws where it is wrong.
void add_host(std::string_view text, HostFacts& facts);

}  // namespace cellblock
