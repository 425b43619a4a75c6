#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

/// The ids that cellblock puts in place of its peers' own: integers that a peer cannot guess, so
/// that an answer to a call which is not its own stays without effect.
namespace cellblock::gateway {

class UpstreamIds {
 public:
  /// Fills the whole span with random bytes; must not fail.
  using Fill = std::function<void(std::span<std::byte>)>;

  explicit UpstreamIds(Fill fill) : fill_(std::move(fill)) {}

  /// In [1, 2^53): every JSON parser carries such an integer exactly.
  std::uint64_t next();

 private:
  std::uint64_t draw();

  Fill fill_;
  std::array<std::uint64_t, 64> pool_{};
  std::size_t left_ = 0;
};

/// The id in raw JSON, or 0 if it cannot be one of ours.
std::uint64_t parse_upstream_id(std::string_view raw);

}  // namespace cellblock::gateway
