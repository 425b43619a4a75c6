#pragma once

#include <string>
#include <string_view>

/// Which attempts of cellblock-probe may fail outside as well, and why, so that any other that
/// does is a failure of the probe and not taken for a poor machine.
namespace cellblock::containment {

/// What this machine lacks for the attempt, given the errno it met ("" for none); empty: nothing
/// that is known, so it should have succeeded.
std::string_view lacking_outside(std::string_view id, std::string_view error);

}  // namespace cellblock::containment
