#include "supervisor/gateway/cell/usage_book.h"

#include <algorithm>
#include <span>

namespace cellblock::gateway {

void UsageBook::when_known(Time now, Then then) {
  const bool is_fresh = !asked_ && now - begun_ < fresh_for;
  if (cells_.empty() || is_fresh || waiting_.size() >= most_waiting) return then();
  waiting_.push_back(std::move(then));
  if (std::exchange(asked_, true)) return;
  begun_ = now;
  ask_(0);
}

void UsageBook::told(const wire::UsagePage& page, Time now) {
  const std::size_t count = std::min<std::size_t>(page.count, page.cells.size());
  for (const wire::CellUsage& usage : std::span(page.cells).first(count)) {
    const auto found = cells_.find(usage.cell);
    if (found != cells_.end()) found->second = {usage, now};
  }
  if (page.more != 0 && count != 0) return ask_(page.cells.at(count - 1).cell);
  asked_ = false;
  serve();
}

void UsageBook::wait_is_over() { serve(); }

void UsageBook::serve() {
  for (const Then& then : std::exchange(waiting_, {})) then();
}

wire::CellUsage UsageBook::of(std::uint64_t cell, Time now) const {
  const auto found = cells_.find(cell);
  const bool is_known = found != cells_.end() && now - found->second.at < shown_for;
  return is_known ? found->second.usage : wire::CellUsage{};
}

}  // namespace cellblock::gateway
