#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "policy/config/result_bounds.h"
#include "policy/results/result_items.h"

/// Who of a result's items gets how much of its bounds: numbers alone.
namespace cellblock {

enum class Fate : std::uint8_t {
  whole,
  cut,       ///< a text, to `bytes`, its note included
  replaced,  ///< media, by a note
  left_out,
};

struct Allotment {
  Fate fate = Fate::whole;
  std::size_t bytes = 0;
};

/// The room that one note may take.
inline constexpr std::size_t note_room = 640;

/// One for each item, in their order. Where all of it does not fit, every text has the same share
/// and smaller ones are whole; with so many that the shares would be scraps, the first are whole
/// and the rest is left out.
std::vector<Allotment> allot(const std::vector<ResultItem>& items, const ResultBounds& bounds);

}  // namespace cellblock
