#include "policy/jsonrpc/line_splitter.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "policy/jsonrpc/jsonrpc.h"

namespace cellblock {
namespace {

constexpr std::size_t smallest_read = 16U << 10;
constexpr std::size_t padding = MessageScanner::padding;
// A buffer of up to this size is kept between lines.
constexpr std::size_t kept_capacity = 64U << 10;

}  // namespace

LineSplitter::LineSplitter(std::size_t max_line) : max_line_(max_line) {}

std::span<char> LineSplitter::writable() {
  if (capacity_ < end_ + smallest_read + padding) move_to(wanted_capacity());
  return {buffer_.get() + end_, capacity_ - padding - end_};
}

void LineSplitter::written(std::size_t count) {
  assert(end_ + count + padding <= capacity_);
  end_ += count;
}

LineSplitter::Next LineSplitter::next() {
  if (mode_ == Mode::skipping) return skip();
  if (scanned_ < end_) {
    const void* newline = std::memchr(buffer_.get() + scanned_, '\n', end_ - scanned_);
    if (newline != nullptr) {
      return take(static_cast<const char*>(newline) - (buffer_.get() + begin_));
    }
    scanned_ = end_;
  }
  if (unfinished() > max_line_) return overlong(unfinished());
  settle();
  return {};
}

LineSplitter::Next LineSplitter::take(std::size_t length) {
  const std::string_view line{buffer_.get() + begin_, length};
  begin_ += length + 1;
  scanned_ = begin_;
  if (length > max_line_) return {Kind::too_long, {}, length};
  if (length > kept_capacity) last_large_ = length;
  return {Kind::line, line, 0};
}

LineSplitter::Next LineSplitter::overlong(std::size_t length) {
  mode_ = Mode::skipping;
  begin_ = scanned_ = end_;
  return {Kind::too_long, {}, length};
}

LineSplitter::Next LineSplitter::skip() {
  const std::string_view rest{buffer_.get() + begin_, unfinished()};
  const std::size_t newline = rest.find('\n');
  if (newline == std::string_view::npos) {
    begin_ = scanned_ = end_;
    settle();
    return {};
  }
  mode_ = Mode::collecting;
  begin_ += newline + 1;
  scanned_ = begin_;
  return next();
}

/// Between two reads: an empty buffer starts over, and one that grew for a large line shrinks.
void LineSplitter::settle() {
  if (unfinished() == 0) begin_ = scanned_ = end_ = 0;
  if (capacity_ > kept_capacity && unfinished() + smallest_read + padding <= kept_capacity / 2) {
    move_to(kept_capacity / 2);
  }
}

/// Twice what is there, so that a large line is copied a constant number of times; and where one
/// came before, room for another like it at once. But not past the longest line and one read. One
/// that cannot be a line is skipped before it gets that far.
std::size_t LineSplitter::wanted_capacity() const {
  constexpr std::size_t room = smallest_read + padding;
  const std::size_t alike = unfinished() > kept_capacity / 2 ? last_large_ + 1 : 0;
  const std::size_t wanted = std::max(2 * unfinished(), alike) + room;
  return std::max(unfinished() + room, std::min(wanted, max_line_ + 1 + room));
}

void LineSplitter::move_to(std::size_t capacity) {
  if (capacity > capacity_ || capacity < capacity_ / 2) {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (unfinished() != 0) std::memcpy(larger.get(), buffer_.get() + begin_, unfinished());
    buffer_ = std::move(larger);
    capacity_ = capacity;
  } else {
    std::memmove(buffer_.get(), buffer_.get() + begin_, unfinished());
  }
  scanned_ -= begin_;
  end_ -= begin_;
  begin_ = 0;
}

}  // namespace cellblock
