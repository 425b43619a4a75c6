#pragma once

#include <cstdint>
#include <string>

#include "policy/config_reader/located.h"

namespace cellblock {

/// `[server.NAME.restart]` as it is written.
struct RestartText {
  Maybe<std::string> when;
  Maybe<std::string> pause;
  Maybe<std::string> max_pause;
  Maybe<std::string> patience;
  Maybe<std::int64_t> failures;
  Maybe<std::string> window;
  Maybe<std::string> rest;
  Maybe<std::int64_t> trials;
};

}  // namespace cellblock
