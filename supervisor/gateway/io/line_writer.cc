#include "supervisor/gateway/io/line_writer.h"

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

namespace cellblock::gateway {

namespace {

constexpr std::size_t keep_capacity = 256U << 10;

std::size_t size_of(std::span<const std::string_view> slices) {
  std::size_t size = 0;
  for (const std::string_view slice : slices) size += slice.size();
  return size;
}

iovec piece_of(std::string_view bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};  // NOLINT(*-const-cast): only read
}

// To assign an empty string would keep the memory.
void give_back(std::string& text) { std::string().swap(text); }

}  // namespace

LineWriter::LineWriter(Watch& watch, std::size_t max_queued, Write write,
                       std::function<void()> on_progress)
    : watch_(watch),
      max_queued_(max_queued),
      write_(std::move(write)),
      on_progress_(std::move(on_progress)) {
  watch_.on_writable = [this] {
    blocked_ = false;
    flush();
    on_progress_();
  };
}

void LineWriter::write(std::span<const std::string_view> slices) {
  if (!is_open()) return;
  const std::size_t size = size_of(slices);
  if (queued() + size > max_queued_) return break_off(WriterState::overflowed);
  if (blocked_ || size <= gather_limit) return append(slices, 0);
  write_through(slices);
}

void LineWriter::append(std::span<const std::string_view> slices, std::size_t skip) {
  // A reader that is slow but never idle would otherwise leave its whole past in here.
  if (sent_ > queued()) {
    queue_.erase(0, sent_);
    sent_ = 0;
  }
  for (const std::string_view slice : slices) {
    const std::size_t skipped = std::min(skip, slice.size());
    queue_ += slice.substr(skipped);
    skip -= skipped;
  }
}

// The queue, then the message, in one call; then whatever is left is queued.
void LineWriter::write_through(std::span<const std::string_view> slices) {
  std::vector<iovec> pieces;
  pieces.reserve(slices.size() + 1);
  const std::size_t before = queued();
  if (before != 0) pieces.push_back(piece_of(std::string_view(queue_).substr(sent_)));
  for (const std::string_view slice : slices) {
    if (pieces.size() == IOV_MAX) break;
    pieces.push_back(piece_of(slice));
  }
  const IoResult result = write_(pieces);
  if (result.status == IoStatus::closed) return break_off(WriterState::closed);
  const std::size_t of_queue = std::min(result.count, before);
  sent(of_queue);
  append(slices, result.count - of_queue);
  if (queued() != 0) flush();
}

void LineWriter::flush() {
  while (!blocked_ && is_open() && queued() != 0) {
    const iovec piece = piece_of(std::string_view(queue_).substr(sent_));
    const IoResult result = write_(std::span(&piece, 1));
    if (result.status == IoStatus::closed) return break_off(WriterState::closed);
    if (result.status == IoStatus::would_block) blocked_ = true;
    sent(result.count);
  }
  interest();
}

void LineWriter::sent(std::size_t count) {
  sent_ += count;
  if (sent_ != queue_.size()) return;
  sent_ = 0;
  queue_.clear();
  if (queue_.capacity() > keep_capacity) give_back(queue_);
}

void LineWriter::break_off(WriterState why) {
  if (is_open()) state_ = why;
  give_back(queue_);
  sent_ = 0;
  blocked_ = false;
  interest();
}

void LineWriter::stop() { break_off(WriterState::closed); }

void LineWriter::interest() { static_cast<void>(watch_.want_write(blocked_ && is_open())); }

}  // namespace cellblock::gateway
