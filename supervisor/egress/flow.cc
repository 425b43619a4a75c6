#include "supervisor/egress/flow.h"

#include <array>
#include <cstddef>

namespace cellblock::egress {
namespace {

// One for all flows: what is in it is passed on, or copied, before the next read.
constexpr std::size_t buffer_size = 65'536;
std::array<char, buffer_size> buffer;  // NOLINT: one thread

}  // namespace

FlowStatus Flow::become(FlowStatus status) {
  status_ = status;
  return status;
}

FlowStatus Flow::read(const Filter& filter) {
  const std::size_t room = budget_.room(buffer.size());
  if (room == 0) return become(FlowStatus::out_of_bytes);
  const IoResult got = receive(source_.fd.get(), std::span(buffer).first(room));
  switch (got.status) {
    case IoStatus::would_block:
      return FlowStatus::going_on;
    case IoStatus::broken:
      return become(FlowStatus::broken);
    case IoStatus::ended:
      return end();
    case IoStatus::done:
      break;
  }
  budget_.take(got.count);
  const std::string_view bytes(buffer.data(), got.count);
  return push(filter ? filter(bytes) : bytes);
}

FlowStatus Flow::push(std::string_view bytes) {
  moved_ += bytes.size();
  if (waiting_.empty() && !bytes.empty()) {
    const IoResult sent = send(sink_.fd.get(), bytes);
    if (sent.status == IoStatus::broken) return become(FlowStatus::broken);
    bytes.remove_prefix(sent.count);
  }
  waiting_.append(bytes);
  return settle();
}

FlowStatus Flow::write() {
  if (waiting_.empty()) return settle();
  const IoResult sent = send(sink_.fd.get(), waiting_);
  if (sent.status == IoStatus::broken) return become(FlowStatus::broken);
  waiting_.erase(0, sent.count);
  return settle();
}

FlowStatus Flow::end() {
  source_ended_ = true;
  return settle();
}

FlowStatus Flow::settle() {
  const bool reads = waiting_.empty() && !source_ended_;
  if (!source_.watch.want_read(reads) || !sink_.watch.want_write(!waiting_.empty())) {
    return become(FlowStatus::broken);
  }
  if (!waiting_.empty() || !source_ended_ || status_ == FlowStatus::ended) return status_;
  waiting_.shrink_to_fit();
  static_cast<void>(::shutdown(sink_.fd.get(), SHUT_WR));  // fails if it is gone altogether
  return become(FlowStatus::ended);
}

}  // namespace cellblock::egress
