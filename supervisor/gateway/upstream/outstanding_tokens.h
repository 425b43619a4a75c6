#pragma once

#include <cstddef>
#include <deque>
#include <string_view>

#include "supervisor/os/clock.h"

/// Sealed values that a host holds and is expected to bring back: the state of a question that its
/// user has not answered yet, the next page of a list.
namespace cellblock::gateway {

class OutstandingTokens {
 public:
  static constexpr std::size_t most = 64;  ///< the oldest falls out

  void add(std::string_view sealed, Time until);
  void came_back(std::string_view sealed);
  bool any(Time now) const;

 private:
  struct Value {
    std::size_t hash = 0;  ///< it may be long, and two that are taken for one do no harm
    Time until;
  };
  std::deque<Value> values_;
};

}  // namespace cellblock::gateway
