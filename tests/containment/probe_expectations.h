#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cellblock::containment {

/// The ways in which a cell holds this attempt: names of errno values, "-" for a way without one.
std::vector<std::string> expected_ways(std::string_view id);

}  // namespace cellblock::containment
