#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

struct HeldRequest {
  std::string id;  ///< the host's, raw JSON
  std::string method;
  Json params;
  std::size_t bytes = 0;  ///< of its line
};

/// What a host asks before hands are shaken with its server, in order.
class HeldRequests {
 public:
  static constexpr std::size_t max_requests = 64;
  static constexpr std::size_t max_bytes = 16U << 20;

  bool has_room_for(const HeldRequest& request) const {
    std::size_t bytes = request.bytes;
    for (const HeldRequest& held : held_) bytes += held.bytes;
    return held_.size() < max_requests && bytes <= max_bytes;
  }
  void hold(HeldRequest request) { held_.push_back(std::move(request)); }

  bool has(std::string_view id) const {
    return std::ranges::find(held_, id, &HeldRequest::id) != held_.end();
  }
  bool drop(std::string_view id) {
    return std::erase_if(held_, [id](const HeldRequest& held) { return held.id == id; }) > 0;
  }
  std::vector<HeldRequest> take_all() { return std::exchange(held_, {}); }
  std::size_t size() const { return held_.size(); }

 private:
  std::vector<HeldRequest> held_;
};

}  // namespace cellblock::gateway
