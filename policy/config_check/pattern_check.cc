#include "policy/config_check/pattern_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace cellblock {
namespace {

constexpr std::size_t most_patterns = 1024;

}  // namespace

std::vector<NamePattern> check_patterns(const Scope& scope, NameKind kind, const TextList& texts,
                                        std::string_view key) {
  if (key.empty()) key = key_of(kind);
  std::vector<NamePattern> patterns;
  if (texts.size() > most_patterns) {
    scope.error(texts.front().at, key,
                fmt::format("has {} entries; allowed: at most {}", texts.size(), most_patterns));
    return patterns;
  }
  for (const TextAt& text : texts) {
    if (auto pattern = read_name_pattern(kind, text.value)) {
      patterns.push_back(std::move(*pattern));
    } else {
      scope.error(text.at, key, pattern.error().text);
    }
  }
  return patterns;
}

}  // namespace cellblock
