#include "supervisor/gateway/upstream/outstanding_tokens.h"

#include <algorithm>
#include <functional>

namespace cellblock::gateway {

namespace {

std::size_t hash_of(std::string_view sealed) { return std::hash<std::string_view>()(sealed); }

}  // namespace

void OutstandingTokens::add(std::string_view sealed, Time until) {
  if (values_.size() == most) values_.pop_front();
  values_.push_back({hash_of(sealed), until});
}

void OutstandingTokens::came_back(std::string_view sealed) {
  const std::size_t hash = hash_of(sealed);
  std::erase_if(values_, [hash](const Value& value) { return value.hash == hash; });
}

bool OutstandingTokens::any(Time now) const {
  return std::ranges::any_of(values_, [now](const Value& value) { return now < value.until; });
}

}  // namespace cellblock::gateway
