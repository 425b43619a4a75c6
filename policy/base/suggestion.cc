#include "policy/base/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace cellblock {
namespace {

// No key is longer; a longer word is no slip of the finger, and the work below is bounded.
constexpr std::size_t longest_word = 64;

// Levenshtein's distance, one row at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > longest_word) return {};
  std::string_view best;
  std::size_t best_distance = word.size() / 3 + 1;
  for (const std::string_view candidate : known) {
    const std::size_t away = distance(word, candidate);
    if (away < best_distance) {
      best = candidate;
      best_distance = away;
    }
  }
  return best;
}

}  // namespace cellblock
