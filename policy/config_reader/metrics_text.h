#pragma once

#include <cstdint>
#include <string>

#include "policy/config_reader/located.h"

/// What the TOML says about metrics, as it is written.
namespace cellblock {

/// `[metrics]`
struct MetricsText {
  Place at;
  Maybe<std::string> socket;
  Maybe<std::string> mode;
  Maybe<std::int64_t> port;
};

}  // namespace cellblock
