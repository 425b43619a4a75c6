#include "supervisor/gateway/checks/kept_total.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "supervisor/gateway/checks/kept_results.h"

namespace cellblock::gateway {

std::uint64_t KeptTotal::bytes() const {
  return std::accumulate(
      sessions_.begin(), sessions_.end(), std::uint64_t{0},
      [](std::uint64_t sum, const KeptResults* session) { return sum + session->bytes(); });
}

std::string KeptTotal::new_id() {
  std::array<std::byte, 16> random{};
  fill_(random);
  std::string id;
  for (const std::byte byte : random) id += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return id;
}

void KeptTotal::make_room(std::uint64_t bytes) {
  while (this->bytes() + bytes > rules_.bytes_per_user) {
    const auto oldest = std::ranges::min_element(sessions_, {}, [](const KeptResults* session) {
      return session->oldest().value_or(Time::max());
    });
    if (oldest == sessions_.end() || !(*oldest)->oldest()) return;
    (*oldest)->drop_oldest();
  }
}

}  // namespace cellblock::gateway
