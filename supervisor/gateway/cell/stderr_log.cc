#include "supervisor/gateway/cell/stderr_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "policy/base/printable.h"

namespace cellblock::gateway {

void StderrRing::add(StderrLine line) {
  if (lines_.size() == max_lines) {
    lines_.pop_front();
    ++dropped_;
  }
  lines_.push_back(std::move(line));
}

StderrPage StderrRing::page(std::size_t first, std::size_t count) const {
  const std::size_t end = std::min(first + count, lines_.size());
  StderrPage page{.lines = {}, .next = dropped_ + end};
  for (std::size_t i = first; i < end; ++i) page.lines.push_back(&lines_[i]);
  return page;
}

StderrPage StderrRing::last(std::size_t count) const {
  return page(lines_.size() - std::min(count, lines_.size()), count);
}

StderrPage StderrRing::after(std::uint64_t number, std::size_t count) const {
  const std::uint64_t seen = std::min<std::uint64_t>(number, dropped_ + lines_.size());
  StderrPage found = page(seen - std::min(seen, dropped_), count);
  found.missed = dropped_ - std::min(seen, dropped_);
  return found;
}

std::vector<std::string> StderrRing::last_of(std::uint64_t cell, std::size_t count) const {
  std::vector<std::string> found;
  for (auto line = lines_.rbegin(); line != lines_.rend() && found.size() < count; ++line) {
    if (line->cell == cell) found.push_back(line->text);
  }
  std::ranges::reverse(found);
  return found;
}

void StderrCollector::add(std::string_view bytes, std::int64_t now_ms) {
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, newline);
    const std::size_t room = max_line - partial_.size();
    partial_ += piece.substr(0, room);
    cut_ += piece.size() - std::min(piece.size(), room);
    if (newline == std::string_view::npos) return;
    line_ends(now_ms);
    bytes.remove_prefix(newline + 1);
  }
}

void StderrCollector::finish(std::int64_t now_ms) {
  if (!partial_.empty()) line_ends(now_ms);
  new_second(0);
}

void StderrCollector::line_ends(std::int64_t now_ms) {
  if (now_ms / 1000 != second_) new_second(now_ms);
  if (in_second_ < max_lines_per_second) {
    ++in_second_;
    std::string text = printable(clean_ ? clean_(partial_) : partial_, max_line);
    if (cut_ != 0) text += fmt::format(" ... ({} more bytes)", cut_);
    ring_.add({cell_, now_ms, std::move(text)});
  } else {
    ++dropped_;
  }
  partial_.clear();
  cut_ = 0;
}

void StderrCollector::new_second(std::int64_t now_ms) {
  if (dropped_ != 0) {
    ring_.add({cell_, second_ * 1000, fmt::format("({} more lines in one second)", dropped_)});
  }
  dropped_ = 0;
  in_second_ = 0;
  second_ = now_ms / 1000;
}

}  // namespace cellblock::gateway
