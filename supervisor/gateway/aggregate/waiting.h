#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/jsonrpc/jsonrpc.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {

/// A request that waits for catalogues, and until when.
struct WaitingRequest {
  std::string line;
  Message message;  ///< its spans are of `line`
  Time until;

  std::string_view id() const { return message.id.in(line); }
};

class Waiting {
 public:
  static constexpr std::size_t max_bytes = 16U << 20;  ///< of all of them, unless it is only one

  void add(WaitingRequest request) { requests_.push_back(std::move(request)); }
  bool has_room_for(std::size_t bytes) const {
    for (const WaitingRequest& request : requests_) bytes += request.line.size();
    return requests_.empty() || bytes <= max_bytes;
  }
  bool has(std::string_view id) const {
    return std::ranges::any_of(requests_, [&](const auto& request) { return request.id() == id; });
  }
  /// False: no such request.
  bool remove(std::string_view id) {
    return std::erase_if(requests_, [&](const auto& request) { return request.id() == id; }) > 0;
  }

  std::vector<WaitingRequest> take_all() { return std::exchange(requests_, {}); }
  std::vector<WaitingRequest> take_due(Time now) {
    const auto due = std::ranges::stable_partition(
        requests_, [&](const auto& request) { return request.until > now; });
    std::vector<WaitingRequest> taken(std::make_move_iterator(due.begin()),
                                      std::make_move_iterator(due.end()));
    requests_.erase(due.begin(), due.end());
    return taken;
  }
  std::optional<Time> next_due() const {
    if (requests_.empty()) return std::nullopt;
    return std::ranges::min(requests_, {}, &WaitingRequest::until).until;
  }
  std::size_t size() const { return requests_.size(); }

 private:
  std::vector<WaitingRequest> requests_;
};

}  // namespace cellblock::gateway
