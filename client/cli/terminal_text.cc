#include "client/cli/terminal_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

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

std::string cut_to(std::string_view safe, std::size_t columns) {
  if (columns == 0) return std::string(safe);
  std::size_t seen = 0;
  std::size_t last = 0;  // where the last column that stays ends
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const bool continues = (static_cast<unsigned char>(safe[i]) & 0xc0U) == 0x80U;
    if (continues) continue;
    if (seen + 1 == columns) last = i;
    if (seen++ == columns) return std::string(safe.substr(0, last)) + "…";
  }
  return std::string(safe);
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace cellblock::cli
