#include "supervisor/gateway/io/line_reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cellblock::gateway {

LineReader::LineReader(Watch& watch, std::size_t max_line, Read read, Receiver receiver)
    : watch_(watch), splitter_(max_line), read_(std::move(read)), receiver_(std::move(receiver)) {
  interest();
}

// A descriptor that epoll refuses cannot be read either: its end is reported by the next read.
void LineReader::interest() { static_cast<void>(watch_.want_read(!held_ && !over_)); }

void LineReader::hold() {
  held_ = true;
  interest();
}

void LineReader::flow() {
  held_ = false;
  interest();
}

void LineReader::stop() {
  over_ = true;
  interest();
}

std::optional<std::string> LineReader::stop_for_good() {
  stop();
  const auto unread = splitter_.unread();
  return unread ? std::optional(std::string(*unread)) : std::nullopt;
}

void LineReader::prefill(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> into = splitter_.writable();
    const std::string_view piece = bytes.substr(0, into.size());
    std::ranges::copy(piece, into.begin());
    splitter_.written(piece.size());
    bytes.remove_prefix(piece.size());
  }
  maybe_buffered_ = true;
}

void LineReader::end() {
  if (std::exchange(over_, true)) return;
  interest();
  receiver_.ended();
}

void LineReader::deliver() {
  if (delivering_ || !maybe_buffered_) return;
  if (receiver_.arrived && !held_ && !over_ && !discarding_) receiver_.arrived(unread());
  delivering_ = true;
  while (!held_ && !over_ && !discarding_) {
    const LineSplitter::Next next = splitter_.next();
    if (next.kind == LineSplitter::Kind::need_more) {
      maybe_buffered_ = false;
      break;
    }
    skipped_ = 0;
    if (next.kind == LineSplitter::Kind::too_long || !next.line.empty()) ++lines_;
    if (next.kind == LineSplitter::Kind::line) receiver_.line(next.line);
    if (next.kind == LineSplitter::Kind::too_long) receiver_.too_long(next.length);
  }
  delivering_ = false;
}

LineProgress LineReader::progress() const {
  if (over_) return {.lines = lines_};
  const bool is_skipping = !splitter_.unread();
  return {.lines = lines_,
          .has_begun = is_skipping || splitter_.unfinished() != 0,
          .skipped = is_skipping ? skipped_ : 0};
}

bool LineReader::turn() {
  deliver();
  if (held_ || over_) return true;
  std::array<char, 4096> nowhere;
  const std::span<char> into = discarding_ ? std::span<char>(nowhere) : splitter_.writable();
  const IoResult result = read_(into);
  if (result.status == IoStatus::would_block) return false;
  if (result.status == IoStatus::closed) {
    end();
    return true;
  }
  if (discarding_) return true;
  splitter_.written(result.count);
  maybe_buffered_ = true;
  skipped_ += result.count;
  deliver();
  return true;
}

}  // namespace cellblock::gateway
