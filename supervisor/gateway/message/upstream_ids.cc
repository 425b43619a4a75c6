#include "supervisor/gateway/message/upstream_ids.h"

#include <charconv>

namespace cellblock::gateway {

namespace {
constexpr unsigned spare_bits = 64 - 53;
}

std::uint64_t UpstreamIds::draw() {
  if (left_ == 0) {
    fill_(std::as_writable_bytes(std::span(pool_)));
    left_ = pool_.size();
  }
  return pool_[--left_] >> spare_bits;
}

std::uint64_t UpstreamIds::next() {
  for (;;) {
    if (const std::uint64_t id = draw(); id != 0) return id;
  }
}

std::uint64_t parse_upstream_id(std::string_view raw) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), id);
  return error == std::errc{} && end == raw.data() + raw.size() ? id : 0;
}

}  // namespace cellblock::gateway
