#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/gateway/message/calls_in_flight.h"

namespace cellblock::gateway {

/// A call of the host that is in flight at a server route.
struct RoutedCall {
  std::uint64_t ours = 0;
  std::uint32_t server = 0;
  std::string theirs;          ///< the host's id, raw JSON
  std::string progress_token;  ///< the host's, raw JSON; empty if it wants no progress
  CallKind kind = CallKind::other;
};

class RoutedCalls {
 public:
  void open(RoutedCall call) { calls_.push_back(std::move(call)); }
  /// By our id in raw JSON, which is its progress token as well. Valid until the next change.
  const RoutedCall* find(std::uint32_t server, std::string_view ours) const;
  const RoutedCall* find_theirs(std::string_view theirs) const;

  std::optional<RoutedCall> close(std::uint32_t server, std::string_view ours);
  std::optional<RoutedCall> close_theirs(std::string_view theirs);
  std::vector<RoutedCall> take_of(std::uint32_t server);
  std::vector<RoutedCall> take_all();
  std::size_t size() const { return calls_.size(); }

 private:
  std::optional<RoutedCall> take(const RoutedCall* call);

  std::vector<RoutedCall> calls_;  // a scan over a few dozen, as in CallTable
};

}  // namespace cellblock::gateway
