#include "supervisor/gateway/aggregate/routed_calls.h"

#include <algorithm>
#include <utility>

namespace cellblock::gateway {

const RoutedCall* RoutedCalls::find(std::uint32_t server, std::string_view ours) const {
  const auto found = std::ranges::find_if(calls_, [&](const RoutedCall& call) {
    return call.server == server && std::to_string(call.ours) == ours;
  });
  return found == calls_.end() ? nullptr : &*found;
}

const RoutedCall* RoutedCalls::find_theirs(std::string_view theirs) const {
  const auto found = std::ranges::find(calls_, theirs, &RoutedCall::theirs);
  return found == calls_.end() ? nullptr : &*found;
}

std::optional<RoutedCall> RoutedCalls::take(const RoutedCall* call) {
  if (call == nullptr) return std::nullopt;
  const auto place = calls_.begin() + (call - calls_.data());
  RoutedCall taken = std::move(*place);
  calls_.erase(place);
  return taken;
}

std::optional<RoutedCall> RoutedCalls::close(std::uint32_t server, std::string_view ours) {
  return take(find(server, ours));
}

std::optional<RoutedCall> RoutedCalls::close_theirs(std::string_view theirs) {
  return take(find_theirs(theirs));
}

std::vector<RoutedCall> RoutedCalls::take_of(std::uint32_t server) {
  const auto others = std::ranges::stable_partition(
      calls_, [&](const RoutedCall& call) { return call.server != server; });
  std::vector<RoutedCall> taken(std::make_move_iterator(others.begin()),
                                std::make_move_iterator(others.end()));
  calls_.erase(others.begin(), others.end());
  return taken;
}

std::vector<RoutedCall> RoutedCalls::take_all() { return std::exchange(calls_, {}); }

}  // namespace cellblock::gateway
