#include "client/cli/supply_chain/licence.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "policy/base/trimmed.h"

namespace cellblock::cli {
namespace {

constexpr std::string_view identifiers[] = {
    "0BSD",         "AFL-2.1",           "AGPL-3.0-only", "AGPL-3.0-or-later", "Apache-2.0",
    "Artistic-2.0", "BSD-2-Clause",      "BSD-3-Clause",  "BSL-1.0",           "BlueOak-1.0.0",
    "CC-BY-3.0",    "CC-BY-4.0",         "CC0-1.0",       "EPL-2.0",           "GPL-2.0-only",
    "ISC",          "GPL-2.0-or-later",  "GPL-3.0-only",  "GPL-3.0-or-later",  "LGPL-2.1-only",
    "MIT",          "LGPL-2.1-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later", "MIT-0",
    "MPL-2.0",      "PSF-2.0",           "Python-2.0",    "Unlicense",         "WTFPL",
    "Zlib",
};
constexpr std::string_view operators[] = {"AND", "OR"};

bool is_identifier(std::string_view word) {
  return std::ranges::find(identifiers, word) != std::end(identifiers);
}

// "(MIT OR Apache-2.0)": identifiers with an operator between any two.
bool is_expression(const std::string& text) {
  std::string spaced;
  int open = 0;
  for (const char byte : text) {
    const bool is_bracket = byte == '(' || byte == ')';
    if (is_bracket) open += byte == '(' ? 1 : -1;
    if (open < 0) return false;
    spaced += is_bracket ? ' ' : byte;
  }
  std::istringstream words(spaced);
  bool is_after_identifier = false;
  for (std::string word; words >> word; is_after_identifier = !is_after_identifier) {
    const bool is_operator = std::ranges::find(operators, word) != std::end(operators);
    if (is_after_identifier ? !is_operator : !is_identifier(word)) return false;
  }
  return is_after_identifier && open == 0;
}

}  // namespace

Licence licence_of(const std::string& text) {
  constexpr std::size_t most_shown = 200;
  std::string line(trimmed(text.substr(0, text.find('\n'))));
  if (is_identifier(line)) return {.kind = LicenceKind::identifier, .text = std::move(line)};
  if (is_expression(line)) return {.kind = LicenceKind::expression, .text = std::move(line)};
  return {.kind = LicenceKind::words, .text = line.substr(0, most_shown)};
}

}  // namespace cellblock::cli
