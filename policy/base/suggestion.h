#pragma once

#include <span>
#include <string_view>

/// "did you mean": a guess for a name that is not known.
namespace cellblock {

/// The nearest of `known`, if it is at most a third of the word's letters away; else empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace cellblock
