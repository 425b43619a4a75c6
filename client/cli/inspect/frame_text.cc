#include "client/cli/inspect/frame_text.h"

#include <fmt/format.h>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {
namespace {

constexpr std::size_t most_shown = 16U << 10;

double in_milliseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

// Where a character ends, so that the cut makes no invalid UTF-8 of valid one.
std::size_t cut_of(std::string_view frame) {
  auto end = most_shown;
  while (end > most_shown - 4 && (static_cast<unsigned char>(frame[end]) & 0xc0U) == 0x80U) --end;
  return end;
}

}  // namespace

std::string frame_text(client::FrameDirection direction, std::chrono::microseconds since,
                       std::string_view frame) {
  const auto arrow = direction == client::FrameDirection::to_daemon ? "→" : "←";
  const bool whole = frame.size() <= most_shown;
  const auto shown = safe_line(whole ? frame : frame.substr(0, cut_of(frame)));
  return fmt::format("{} {:10.3f} ms  {}{}", arrow, in_milliseconds(since), shown,
                     whole ? "" : fmt::format("… ({} bytes)", frame.size()));
}

std::string milliseconds_text(std::chrono::microseconds took) {
  return fmt::format("{:.1f} ms", in_milliseconds(took));
}

}  // namespace cellblock::cli
