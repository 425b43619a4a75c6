#include "supervisor/gateway/aggregate/members.h"

#include <algorithm>

namespace cellblock::gateway {

Members::Members(const Config& config, const SessionAccess& access)
    : config_(config), access_(access) {
  renew();
}

void Members::renew() {
  all_.clear();
  for (std::uint32_t i = 0; i < config_.servers.size(); ++i) {
    if (config_.servers[i].enabled && access_.servers().contains(i)) all_.push_back(i);
  }
}

std::optional<std::uint32_t> Members::find(std::string_view name) const {
  const auto found = std::ranges::find_if(
      all_, [&](std::uint32_t index) { return config_.servers[index].name == name; });
  if (found == all_.end()) return std::nullopt;
  return *found;
}

}  // namespace cellblock::gateway
