#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "supervisor/http_connection/http_context.h"

namespace cellblock::http {

/// Bytes held at one time: so many in all, of which one caller has no more than a share. Pure.
class ShareBudget {
 public:
  struct Bounds {
    std::uint64_t in_all = 0;
    std::uint64_t share = 0;
  };
  explicit ShareBudget(Bounds bounds) : bounds_(bounds) {}

  /// False: there is no room for them, and nothing was taken.
  bool take(const CallerKey& caller, std::uint64_t bytes) {
    const auto found = held_.find(caller);
    const std::uint64_t held = found == held_.end() ? 0 : found->second;
    if (held + bytes > bounds_.share || all_ + bytes > bounds_.in_all) return false;
    if (bytes > 0) held_[caller] += bytes;
    all_ += bytes;
    return true;
  }

  void give_back(const CallerKey& caller, std::uint64_t bytes) {
    const auto found = held_.find(caller);
    if (found == held_.end()) return;
    const std::uint64_t back = std::min(bytes, found->second);
    all_ -= back;
    found->second -= back;
    if (found->second == 0) held_.erase(found);
  }

 private:
  Bounds bounds_;
  std::uint64_t all_ = 0;
  std::map<CallerKey, std::uint64_t> held_;
};

}  // namespace cellblock::http
