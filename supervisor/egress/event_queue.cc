#include "supervisor/egress/event_queue.h"

#include <algorithm>
#include <string_view>

namespace cellblock::egress {
namespace {

std::string_view host_of(const wire::EgressEvent& event) {
  return {event.host.data(), event.host_length};
}

bool are_alike(const wire::EgressEvent& a, const wire::EgressEvent& b) {
  return a.kind == b.kind && a.reason == b.reason && a.port == b.port && a.error == b.error &&
         a.address == b.address && host_of(a) == host_of(b);
}

// Stands for all of its kind and reason.
wire::EgressEvent without_details(const wire::EgressEvent& event) {
  wire::EgressEvent general;
  general.kind = event.kind;
  general.reason = event.reason;
  general.count = event.count;
  general.sent = event.sent;
  general.received = event.received;
  return general;
}

bool merge(std::deque<wire::EgressEvent>& waiting, const wire::EgressEvent& event) {
  const auto same = std::ranges::find_if(
      waiting, [&](const wire::EgressEvent& other) { return are_alike(event, other); });
  if (same == waiting.end()) return false;
  same->count += event.count;
  same->sent += event.sent;
  same->received += event.received;
  return true;
}

}  // namespace

void EventQueue::add(const wire::EgressEvent& event) {
  if (merge(waiting_, event)) return;
  // Each kind has room of its own: no heap of refusals can hide whom it did connect to.
  const auto of_its_kind = std::ranges::count(waiting_, event.kind, &wire::EgressEvent::kind);
  if (static_cast<std::size_t>(of_its_kind) < max_waiting) return waiting_.push_back(event);
  // There are few kinds and reasons, so this part of the queue has a bound of its own.
  const wire::EgressEvent general = without_details(event);
  if (!merge(waiting_, general)) waiting_.push_back(general);
}

const wire::EgressEvent* EventQueue::next(Time now) {
  const auto first = std::ranges::find_if(
      waiting_, [&](const wire::EgressEvent& event) { return ready_at(event.kind) <= now; });
  if (first == waiting_.end()) return nullptr;
  // To the front, where take() finds it: the order within a kind stays.
  std::rotate(waiting_.begin(), first, first + 1);
  return &waiting_.front();
}

void EventQueue::take(Time now) {
  constexpr auto credit = interval * (per_second - 1);
  Time& ready = ready_at(waiting_.front().kind);
  ready = std::max(ready, now - credit) + interval;
  waiting_.pop_front();
}

std::optional<EventQueue::Time> EventQueue::due() const {
  std::optional<Time> first;
  for (const wire::EgressEvent& event : waiting_) {
    const Time ready = ready_.at(static_cast<std::size_t>(event.kind));
    if (!first || ready < *first) first = ready;
  }
  return first;
}

}  // namespace cellblock::egress
