#include "policy/json/canonical_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace cellblock {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string plain(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

void write(const OrderedJson& value, std::string& text);

void write_object(const OrderedJson& object, std::string& text) {
  std::vector<const OrderedJson::object_t::value_type*> members;
  members.reserve(object.size());
  for (const auto& member : object.get_ref<const OrderedJson::object_t&>())
    members.push_back(&member);
  std::ranges::sort(members, {},
                    [](const auto* member) { return std::string_view(member->first); });
  text += '{';
  for (const auto* member : members) {
    if (text.back() != '{') text += ',';
    text += plain(member->first) + ':';
    write(member->second, text);
  }
  text += '}';
}

void write_array(const OrderedJson& array, std::string& text) {
  text += '[';
  for (const OrderedJson& value : array) {
    if (text.back() != '[') text += ',';
    write(value, text);
  }
  text += ']';
}

// A number that a double is not is there as its digits (supervisor/gateway/message/json_tree.h).
void write(const OrderedJson& value, std::string& text) {
  if (value.is_object()) return write_object(value, text);
  if (value.is_array()) return write_array(value, text);
  if (!value.is_binary()) return static_cast<void>(text += plain(value));
  const auto& number = value.get_binary();
  text.append(number.begin(), number.end());
}

}  // namespace

std::string canonical_json(const OrderedJson& tree) {
  std::string text;
  write(tree, text);
  return text;
}

}  // namespace cellblock
