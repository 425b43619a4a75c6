#include "supervisor/gateway/aggregate/json_text.h"

namespace cellblock::gateway {

std::string json_string(std::string_view text) { return text_of(Json(text)); }

std::string text_from(std::string_view raw) {
  const Json json = parse_json(raw);
  return json.is_string() ? json.get<std::string>() : std::string{};
}

}  // namespace cellblock::gateway
