#pragma once

#include <cstdint>
#include <string>

/// How an author names a licence. Pure.
namespace cellblock::cli {

enum class LicenceKind : std::uint8_t {
  identifier,  ///< of SPDX: "MIT"
  expression,  ///< of SPDX: "MIT OR Apache-2.0"
  words,       ///< anything else
};

struct Licence {
  LicenceKind kind = LicenceKind::words;
  std::string text;  ///< of words, the first line, at most 200 characters
};

/// Identifiers are those of the licences that packages mostly have: others count as words, which is
/// less exact and never wrong.
Licence licence_of(const std::string& text);

}  // namespace cellblock::cli
