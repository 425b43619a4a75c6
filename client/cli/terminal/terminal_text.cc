#include "client/cli/terminal/terminal_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "policy/base/printable.h"

namespace cellblock::cli {
namespace {

// What is shown was bounded when it was received.
constexpr std::size_t whole = std::size_t{1} << 30;

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U; }

std::size_t width_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

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

std::size_t columns_of(std::string_view safe) {
  return safe.size() - static_cast<std::size_t>(std::ranges::count_if(safe, continues));
}

std::string cut_to(std::string_view safe, std::size_t columns) {
  if (columns == 0) return std::string(safe);
  std::size_t seen = 0;
  std::size_t last = 0;  // where the last column that stays ends
  for (std::size_t i = 0; i < safe.size(); ++i) {
    if (continues(safe[i])) continue;
    if (seen + 1 == columns) last = i;
    if (seen++ == columns) return std::string(safe.substr(0, last)) + "…";
  }
  return std::string(safe);
}

std::string wrapped(std::string_view safe, std::size_t columns, std::size_t indent) {
  if (columns == 0) return std::string(safe);
  std::string lines;
  std::size_t column = 0;
  bool begun = false;  // a word of this line is there
  while (true) {
    const auto end = std::min(safe.find_first_of(" \n"), safe.size());
    const auto word = safe.substr(0, end);
    const auto width = columns_of(word);
    if (begun && column + 1 + width > columns) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (begun) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += width;
    begun = true;
    if (end == safe.size()) return lines;
    if (safe[end] == '\n') {
      lines += '\n';
      column = 0;
      begun = false;
    }
    safe.remove_prefix(end + 1);
  }
}

std::size_t terminal_width() { return width_of(STDOUT_FILENO); }

std::size_t error_width() { return width_of(STDERR_FILENO); }

}  // namespace cellblock::cli
