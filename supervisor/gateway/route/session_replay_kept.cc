#include <algorithm>
#include <utility>

#include "supervisor/gateway/route/session_replay.h"

/// A revival's memory as JSON, for another gateway.
namespace cellblock::gateway {

namespace {

bool is_string_value(const Json& json) { return json.is_string(); }

bool is_sound(const Json& kept) {
  const Json* subscriptions = member(kept, "subscriptions");
  const Json* level = member(kept, "level");
  return object_in(kept, "params") != nullptr && object_in(kept, "capabilities") != nullptr &&
         level != nullptr && (level->is_string() || level->is_null()) && subscriptions != nullptr &&
         subscriptions->is_array() && std::ranges::all_of(*subscriptions, is_string_value);
}

}  // namespace

std::optional<Json> SessionReplay::kept() const {
  if (is_too_much_) return std::nullopt;
  if (!introduced_) return Json{};
  Json subscriptions = Json::array();
  for (const std::string& uri : subscriptions_) subscriptions.push_back(parse_json(uri));
  return Json{{"params", parse_json(params_.empty() ? "{}" : params_)},
              {"protocolVersion", version_},
              {"capabilities", capabilities_},
              {"initialized", is_initialized_},
              {"level", level_.empty() ? Json{} : parse_json(level_)},
              {"subscriptions", std::move(subscriptions)}};
}

std::optional<SessionReplay> SessionReplay::from_kept(const Json& kept) {
  if (!is_sound(kept)) return std::nullopt;
  SessionReplay revival;
  revival.introduced_ = revival.is_due_ = true;
  revival.params_ = text_of(kept["params"]);
  revival.version_ = string_in(kept, "protocolVersion");
  revival.capabilities_ = kept["capabilities"];
  revival.is_initialized_ = says(kept, "initialized");
  if (kept["level"].is_string()) revival.level_ = text_of(kept["level"]);
  for (const Json& uri : kept["subscriptions"]) revival.subscriptions_.push_back(text_of(uri));
  revival.weigh();
  if (revival.is_too_much_) return std::nullopt;
  return revival;
}

}  // namespace cellblock::gateway
