#include "client/cli/terminal_text.h"

#include "policy/printable.h"

namespace cellblock::cli {
namespace {

// What is shown was bounded when it was received.
constexpr std::size_t whole = std::size_t{1} << 30;

}  // namespace

std::string safe_line(std::string_view text) { return printable(text, whole); }

std::string safe_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const auto end = text.find_first_of("\n\t");
    safe += safe_line(text.substr(0, end));
    if (end == std::string_view::npos) break;
    safe += text[end];
    text.remove_prefix(end + 1);
  }
  return safe;
}

}  // namespace cellblock::cli
