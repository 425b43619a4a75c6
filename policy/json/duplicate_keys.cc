#include "policy/json/duplicate_keys.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace cellblock {
namespace {

// Up to here comparing each with each is faster than sorting.
constexpr std::size_t few = 12;
constexpr std::size_t kept_keys = 4096;

using Keys = std::span<std::string_view>;

bool few_are_distinct(Keys keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (std::ranges::find(keys.first(i), keys[i]) != keys.begin() + static_cast<std::ptrdiff_t>(i))
      return false;
  }
  return true;
}

bool many_are_distinct(Keys keys) {
  // By length first: that settles most comparisons without looking at a byte.
  std::ranges::sort(keys, [](std::string_view a, std::string_view b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return std::ranges::adjacent_find(keys) == keys.end();
}

}  // namespace

void OpenKeys::clear() {
  keys_.clear();
  if (keys_.capacity() > kept_keys) keys_.shrink_to_fit();
}

bool OpenKeys::close_distinct(Mark mark) {
  const Keys keys = std::span(keys_).subspan(mark);
  const bool distinct = keys.size() <= few ? few_are_distinct(keys) : many_are_distinct(keys);
  keys_.resize(mark);
  return distinct;
}

}  // namespace cellblock
