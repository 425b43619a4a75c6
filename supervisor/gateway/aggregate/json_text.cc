#include "supervisor/gateway/aggregate/json_text.h"

namespace cellblock::gateway {

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_string(std::string_view text) { return text_of(Json(text)); }

std::string string_in(std::string_view raw) {
  const Json json = parsed(raw);
  return json.is_string() ? json.get<std::string>() : std::string{};
}

Json parsed(std::string_view raw) { return Json::parse(raw, nullptr, false); }

const Json* member(const Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

Json* member(Json& json, const char* name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found == json.end() ? nullptr : &*found;
}

std::string string_member(const Json& json, const char* name) {
  const Json* found = member(json, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

}  // namespace cellblock::gateway
