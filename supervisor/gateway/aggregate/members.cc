#include "supervisor/gateway/aggregate/members.h"

namespace cellblock::gateway {

std::string json_string(std::string_view text) { return text_of(Json(text)); }

std::string text_from(std::string_view raw) {
  const Json json = parse_json(raw);
  return json.is_string() ? json.get<std::string>() : std::string{};
}

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
