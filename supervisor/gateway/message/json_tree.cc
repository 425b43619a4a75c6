#include "supervisor/gateway/message/json_tree.h"

#include <fmt/format.h>

#include "supervisor/gateway/message/tree_reader.h"
#include "supervisor/gateway/message/tree_writer.h"

namespace cellblock::gateway {

Json parse_json(std::string_view raw) {
  Json json = read_tree(raw);
  return json.is_discarded() ? Json() : json;
}

std::string dump_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(const Json& json) { return write_tree(json); }

const Json* member(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

Json* member(Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? nullptr : &*found;
}

const Json* object_in(const Json& json, std::string_view key) {
  const Json* found = member(json, key);
  return found != nullptr && found->is_object() ? found : nullptr;
}

std::string string_in(const Json& json, std::string_view key) {
  const Json* found = member(json, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string{};
}

bool says(const Json& json, std::string_view key) {
  const Json* found = member(json, key);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

Json& object_at(Json& json, std::string_view key) {
  if (!json.is_object()) json = Json::object();
  Json& object = json[std::string(key)];
  if (!object.is_object()) object = Json::object();
  return object;
}

void leave_out(Json& json, std::initializer_list<std::string_view> keys) {
  if (!json.is_object()) return;
  for (const std::string_view key : keys) json.erase(std::string(key));
}

std::string request_text(const Json& id, std::string_view method, const Json& params) {
  Json request{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) request["params"] = params;
  return write_tree(request);
}

std::string notification_text(std::string_view method, const Json& params) {
  Json notification{{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.is_null()) notification["params"] = params;
  return write_tree(notification);
}

std::string result_text(std::string_view id, const Json& result) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, write_tree(result));
}

std::string error_text(std::string_view id, const Json& error) {
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", id, write_tree(error));
}

Json error_of(int code, std::string_view message) {
  return Json{{"code", code}, {"message", message}};
}

}  // namespace cellblock::gateway
