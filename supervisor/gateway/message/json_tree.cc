#include "supervisor/gateway/message/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

/// Takes the parser's events, by the names that it wants. A container's address stays what it is
/// while it is open: only what is in the innermost one grows.
class TreeBuilder {
 public:
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& text) {
    if (Json as_read(value); as_read.dump() == text) return add(std::move(as_read));
    return add(Json::binary(std::vector<std::uint8_t>(text.begin(), text.end())));
  }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    key_ = std::move(value);
    return true;
  }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const Json::exception& /*error*/) {
    return false;
  }

  Json take() { return std::move(root_); }

 private:
  bool add(Json value) {
    put(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() == max_tree_depth) return false;
    open_.push_back(put(std::move(container)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Past the map's own functions, all of which look for the key first.
  Json* put(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    Json& container = *open_.back();
    if (container.is_array())
      return &container.get_ref<Json::array_t&>().emplace_back(std::move(value));
    Json::object_t::Container& members = container.get_ref<Json::object_t&>();
    return &members.emplace_back(std::move(key_), std::move(value)).second;
  }

  Json root_;
  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

nlohmann::ordered_json read_tree(std::string_view text) {
  TreeBuilder builder;
  const bool is_read = Json::sax_parse(text.begin(), text.end(), &builder);
  // Parentheses: in braces it would be an array of one.
  return is_read ? builder.take() : Json(Json::value_t::discarded);
}

// Most strings have no escapes, and then stand there as they are.
std::string read_string(std::string_view raw) {
  if (raw.size() >= 2 && raw.front() == '"' && raw.find('\\') == std::string_view::npos) {
    return std::string(raw.substr(1, raw.size() - 2));
  }
  const Json json = read_tree(raw);
  return json.is_string() ? json.get<std::string>() : std::string{};
}

namespace {

std::string plain(const Json& tree) {
  return tree.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// As deep as read_tree() lets a tree become.
bool has_written_number(const Json& tree) {
  if (tree.is_structured()) return std::ranges::any_of(tree, has_written_number);
  return tree.is_binary();
}

void write(const Json& tree, std::string& text);

void write_object(const Json& object, std::string& text) {
  text += '{';
  for (const auto& [key, value] : object.items()) {
    if (text.back() != '{') text += ',';
    text += plain(key) + ':';
    write(value, text);
  }
  text += '}';
}

void write_array(const Json& array, std::string& text) {
  text += '[';
  for (const Json& value : array) {
    if (text.back() != '[') text += ',';
    write(value, text);
  }
  text += ']';
}

void write(const Json& tree, std::string& text) {
  if (tree.is_object()) return write_object(tree, text);
  if (tree.is_array()) return write_array(tree, text);
  if (!tree.is_binary()) return text.append(plain(tree)), void();
  const auto& number = tree.get_binary();
  text.append(number.begin(), number.end());
}

}  // namespace

std::string write_tree(const nlohmann::ordered_json& tree) {
  if (!has_written_number(tree)) return plain(tree);
  std::string text;
  write(tree, text);
  return text;
}

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
