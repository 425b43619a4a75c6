#include "supervisor/http_connection/outbox.h"

namespace cellblock::http {

bool Outbox::flush() {
  while (queued() > 0) {
    const IoResult result = send_some(socket_, std::string_view(queue_).substr(sent_));
    if (result.status == IoStatus::closed) return false;
    if (result.status == IoStatus::would_block) break;
    sent(result.count);
  }
  static_cast<void>(watch_.want_write(queued() > 0));
  return true;
}

void Outbox::sent(std::size_t count) {
  sent_ += count;
  if (sent_ == queue_.size()) {
    sent_ = 0;
    queue_.clear();
    if (queue_.capacity() > keep_capacity) queue_ = std::string{};
  } else if (sent_ > queued()) {
    queue_.erase(0, sent_);
    sent_ = 0;
  }
}

}  // namespace cellblock::http
