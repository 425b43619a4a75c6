#include "supervisor/gateway/message/tree_reader.h"

#include <cstddef>
#include <cstdint>
#include <string>
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

}  // namespace cellblock::gateway
