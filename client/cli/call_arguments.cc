#include "client/cli/call_arguments.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::unexpected<client::Error> wrong(std::string text) {
  return std::unexpected(
      client::Error{.code = client::ErrorCode::invalid_argument, .text = std::move(text)});
}

Json value_of(const std::string& text) {
  auto json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

}  // namespace

client::Result<std::string> call_arguments(const std::string& json,
                                           const std::vector<std::string>& pairs) {
  // Untouched where there is nothing to add: the server gets what was typed.
  if (pairs.empty()) return json.empty() ? "{}" : json;
  auto object = json.empty() ? Json::object() : Json::parse(json, nullptr, false);
  if (!object.is_object()) return wrong("the arguments of a tool are a JSON object");
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      return wrong(fmt::format("--arg {}: expected NAME=VALUE", pair));
    }
    object[pair.substr(0, equals)] = value_of(pair.substr(equals + 1));
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cellblock::cli
