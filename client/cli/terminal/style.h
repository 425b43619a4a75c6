#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cellblock::cli {

enum class Colour : std::uint8_t { plain, good, bad, weak };

/// Colours only where they are seen: stdout is a terminal, and neither NO_COLOR nor TERM=dumb.
class Style {
 public:
  static Style for_stdout();
  static Style none() { return Style(false); }

  std::string paint(Colour colour, std::string_view text) const;

 private:
  explicit Style(bool on) : on_(on) {}
  bool on_;
};

}  // namespace cellblock::cli
