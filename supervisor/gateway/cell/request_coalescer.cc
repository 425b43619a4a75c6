#include "supervisor/gateway/cell/request_coalescer.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

const RequestCoalescer::Entry* RequestCoalescer::open_one(std::string_view what) const {
  const auto found = std::ranges::find_if(
      entries_, [what](const Entry& entry) { return entry.is_open && entry.done.what == what; });
  return found == entries_.end() ? nullptr : &*found;
}

bool RequestCoalescer::is_asked(std::string_view what) const { return open_one(what) != nullptr; }

void RequestCoalescer::ask(std::string_view what, Waiting first) {
  Entry entry{.ours = first.ours, .is_open = true, .done = {.what = std::string(what)}};
  entry.done.waiting.push_back(std::move(first));
  entries_.push_back(std::move(entry));
}

void RequestCoalescer::wait(std::string_view what, Waiting another) {
  const Entry* entry = open_one(what);
  if (entry == nullptr) return;
  entries_[static_cast<std::size_t>(entry - entries_.data())].done.waiting.push_back(
      std::move(another));
}

bool RequestCoalescer::has(std::string_view ours) const {
  return std::ranges::find(entries_, ours, &Entry::ours) != entries_.end();
}

std::optional<RequestCoalescer::Done> RequestCoalescer::take(std::string_view ours) {
  const auto found = std::ranges::find(entries_, ours, &Entry::ours);
  if (found == entries_.end()) return std::nullopt;
  Done done = std::move(found->done);
  entries_.erase(found);
  return done;
}

void RequestCoalescer::close(std::string_view what) {
  for (Entry& entry : entries_) {
    if (entry.done.what == what) entry.is_open = false;
  }
}

void RequestCoalescer::leave(std::uint64_t member) {
  for (Entry& entry : entries_) {
    std::erase_if(entry.done.waiting,
                  [member](const Waiting& waiting) { return waiting.member == member; });
  }
}

std::vector<RequestCoalescer::Done> RequestCoalescer::take_all() {
  std::vector<Done> all;
  for (Entry& entry : std::exchange(entries_, {})) all.push_back(std::move(entry.done));
  return all;
}

}  // namespace cellblock::gateway
