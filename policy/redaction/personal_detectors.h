#pragma once

#include <span>

#include "policy/redaction/detector.h"

namespace cellblock {

/// What tells of a person: by its own form where it has one, else by the label beside it, in the
/// same text or as the name of the member.
std::span<const Detector> personal_detectors();

}  // namespace cellblock
