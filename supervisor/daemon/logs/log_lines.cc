#include "supervisor/daemon/logs/log_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/base/printable.h"

namespace cellblock::daemon {

std::vector<LogLines::Line> LogLines::take(std::string_view bytes, Time now) {
  std::vector<Line> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const std::size_t room = longest_line - begun_.size();
    begun_ += part.substr(0, room);
    cut_ += part.size() - std::min(part.size(), room);
    if (end == std::string_view::npos) break;
    take_line(now, lines);
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

std::vector<LogLines::Line> LogLines::finish() {
  std::vector<Line> lines;
  tell_left_out(lines);
  if (!begun_.empty()) lines.push_back(line_of(begun_));
  begun_.clear();
  return lines;
}

void LogLines::take_line(Time now, std::vector<Line>& lines) {
  if (now - second_ >= std::chrono::seconds{1}) {
    second_ = now;
    said_ = 0;
  }
  if (said_ < lines_per_second) {
    ++said_;
    tell_left_out(lines);
    lines.push_back(line_of(begun_));
  } else {
    ++left_out_;
  }
  begun_.clear();
  cut_ = 0;
}

void LogLines::tell_left_out(std::vector<Line>& lines) {
  const std::uint64_t count = std::exchange(left_out_, 0);
  if (count == 0) return;
  lines.push_back(
      {Level::warning, fmt::format("{} more line{} left out: it says more than {} in a "
                                   "second",
                                   count, count == 1 ? " was" : "s were", lines_per_second)});
}

LogLines::Line LogLines::line_of(std::string_view text) const {
  constexpr std::string_view warning = "warning: ";
  constexpr std::string_view error = "error: ";
  Line line;
  if (text.starts_with(lead_)) text.remove_prefix(lead_.size());
  if (text.starts_with(warning)) line.level = Level::warning;
  if (text.starts_with(error)) line.level = Level::error;
  if (line.level == Level::warning) text.remove_prefix(warning.size());
  if (line.level == Level::error) text.remove_prefix(error.size());
  line.text = printable(text, 2 * longest_line);
  if (cut_ > 0) line.text += fmt::format("…[{} more bytes]", cut_);
  return line;
}

}  // namespace cellblock::daemon
