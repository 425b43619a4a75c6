#include "policy/rates/refused_attempts.h"

#include <utility>

namespace cellblock {

bool RefusedAttempts::add(const std::string& who) {
  const auto known = attempts_.find(who);
  if (known == attempts_.end() && attempts_.size() >= most_known) {
    ++of_others_;
    return false;
  }
  return ++attempts_[who] <= recorded_each;
}

RefusedAttempts::Span RefusedAttempts::end_span() {
  Span span{.left_out = {}, .of_others = std::exchange(of_others_, 0)};
  for (const auto& [who, count] : std::exchange(attempts_, {})) {
    if (count > recorded_each) span.left_out.push_back({who, count - recorded_each});
  }
  return span;
}

}  // namespace cellblock
