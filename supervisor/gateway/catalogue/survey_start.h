#pragma once

#include <cstdint>

#include "supervisor/gateway/catalogue/catalogues.h"

namespace cellblock::gateway {

/// What a survey sets out with.
struct SurveyStart {
  enum class Hurry : std::uint8_t {
    somebody_waits,
    nobody_waits,  ///< a slow server may take longer for server/discover than era_timeout
  };
  Eras known;
  Hurry hurry = Hurry::somebody_waits;
};

}  // namespace cellblock::gateway
