#include "supervisor/gateway/message/host_peer.h"

#include <algorithm>

namespace cellblock::gateway {

void HostPatience::look(const LineProgress& seen, bool is_held, Time now) {
  skipped_ = seen.skipped;
  if (seen.lines != 0) first_due_.reset();
  const bool is_another = seen.lines != lines_;
  lines_ = seen.lines;
  if (!seen.has_begun || is_held || is_another) line_due_.reset();
  if (seen.has_begun && !is_held && !line_due_) line_due_ = now + bounds_.line;
}

HostPatience::Verdict HostPatience::verdict(Time now) const {
  if (skipped_ > bounds_.most_skipped) return Verdict::endless_line;
  if (line_due_ && now >= *line_due_) return Verdict::slow_line;
  if (first_due_ && now >= *first_due_) return Verdict::silent;
  return Verdict::waits;
}

std::optional<Time> HostPatience::due() const {
  if (first_due_ && line_due_) return std::min(*first_due_, *line_due_);
  return first_due_ ? first_due_ : line_due_;
}

}  // namespace cellblock::gateway
