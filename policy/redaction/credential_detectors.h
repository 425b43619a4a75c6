#pragma once

#include <span>

#include "policy/redaction/detector.h"

namespace cellblock {

/// Keys and tokens, by the forms that their issuers gave them so that they can be found.
std::span<const Detector> credential_detectors();

}  // namespace cellblock
