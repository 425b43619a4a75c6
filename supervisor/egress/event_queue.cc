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

}  // namespace

bool EventQueue::merge(const wire::EgressEvent& event) {
  const auto same = std::ranges::find_if(
      waiting_, [&](const Waiting& other) { return are_alike(event, other.event); });
  if (same == waiting_.end()) return false;
  same->event.count += event.count;
  same->event.sent += event.sent;
  same->event.received += event.received;
  return true;
}

// Each kind has room of its own: no heap of refusals can hide whom it did connect to.
bool EventQueue::has_room(wire::EgressKind kind, Room room) const {
  const auto taken = std::ranges::count_if(waiting_, [&](const Waiting& other) {
    return other.event.kind == kind && other.room == room;
  });
  return static_cast<std::size_t>(taken) < (room == Room::named ? max_named : max_waiting);
}

void EventQueue::add(const wire::EgressEvent& event, Room room) {
  if (merge(event)) return;
  if (has_room(event.kind, room)) return waiting_.push_back({event, room});
  // There are few kinds and reasons, so this part of the queue has a bound of its own.
  const wire::EgressEvent general = without_details(event);
  if (!merge(general)) waiting_.push_back({general, Room::shared});
}

const wire::EgressEvent* EventQueue::next(Time now) {
  const auto first = std::ranges::find_if(waiting_, [&](const Waiting& other) {
    return rate_is_lifted_ || ready_at(other.event.kind) <= now;
  });
  if (first == waiting_.end()) return nullptr;
  // To the front, where take() finds it: the order within a kind stays.
  std::rotate(waiting_.begin(), first, first + 1);
  return &waiting_.front().event;
}

void EventQueue::take(Time now) {
  constexpr auto credit = interval * (per_second - 1);
  Time& ready = ready_at(waiting_.front().event.kind);
  ready = std::max(ready, now - credit) + interval;
  waiting_.pop_front();
}

std::optional<EventQueue::Time> EventQueue::due() const {
  std::optional<Time> first;
  for (const Waiting& waiting : waiting_) {
    const Time ready = ready_.at(static_cast<std::size_t>(waiting.event.kind));
    if (!first || ready < *first) first = ready;
  }
  return first;
}

}  // namespace cellblock::egress
