#pragma once

#include <string_view>
#include <vector>

#include "policy/redaction/detector.h"

/// What cellblock knows to look for.
namespace cellblock {

/// All of them, in one order.
std::vector<const Detector*> all_detectors();
/// Null: there is none.
const Detector* find_detector(std::string_view name);

}  // namespace cellblock
