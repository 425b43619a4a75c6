#include "supervisor/http/backend.h"

#include <utility>

namespace cellblock::http {
void Backend::connect(Fd socket) {
  socket_ = std::make_unique<Socket>(loop_, std::move(socket));
  socket_->watch.on_readable = [this] { read(); };
  socket_->watch.on_writable = [this] { flush(); };
  if (!socket_->watch.want_read(true)) return end();
  socket_->outbox.add(std::exchange(early_, {}));
  flush();
}

bool Backend::send(std::span<const std::string_view> slices) {
  std::size_t size = queued();
  for (const std::string_view slice : slices) size += slice.size();
  if (size > most_queued_) return false;
  for (const std::string_view slice : slices) {
    if (socket_) {
      socket_->outbox.add(slice);
    } else {
      early_ += slice;
    }
  }
  return true;
}

// Nobody reads any more. What came before may say why: its end is read.
void Backend::flush() {
  if (!socket_ || ended_ || is_deaf_ || socket_->outbox.flush()) return;
  is_deaf_ = true;
  static_cast<void>(socket_->watch.want_write(false));
}

// One read in a turn, so that no gateway starves the others.
void Backend::read() {
  const auto room = splitter_.writable();
  const IoResult result = receive_some(socket_->fd.get(), room, Transport::tcp);
  if (result.status == IoStatus::would_block) return;
  if (result.status != IoStatus::done) return end();
  splitter_.written(result.count);
  deliver();
}

void Backend::deliver() {
  for (;;) {
    const auto next = splitter_.next();
    if (next.kind == LineSplitter::Kind::need_more) return;
    if (next.kind == LineSplitter::Kind::line) events_.line(next.line);
    if (ended_) return;
  }
}

void Backend::end() {
  if (std::exchange(ended_, true)) return;
  if (socket_) socket_->watch.forget();
  events_.ended();
}

}  // namespace cellblock::http
