#pragma once

#include <string>
#include <vector>

#include "policy/config/config.h"
#include "policy/config/config_bytes.h"

namespace cellblock {

/// By what the gateways recognise the secrets of the servers, under a new random key for each.
/// Without randomness the process ends.
void mark_secrets(Config& config, const Secrets& secrets);

struct UnmarkedSecret {
  std::string server;
  std::string name;
};

/// Those that are too short to be recognised.
std::vector<UnmarkedSecret> unmarked_secrets(const Config& config, const Secrets& secrets);

}  // namespace cellblock
