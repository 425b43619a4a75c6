#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cellblock::egress {

/// What a cell may still move, both ways together, over all of its connections.
class ByteBudget {
 public:
  explicit ByteBudget(std::optional<std::uint64_t> bytes) : left_(bytes) {}

  std::size_t room(std::size_t wanted) const {
    return left_ ? static_cast<std::size_t>(std::min<std::uint64_t>(wanted, *left_)) : wanted;
  }
  void take(std::size_t bytes) {
    if (left_) *left_ -= std::min<std::uint64_t>(bytes, *left_);
  }
  bool is_used_up() const { return left_ && *left_ == 0; }

 private:
  std::optional<std::uint64_t> left_;
};

}  // namespace cellblock::egress
