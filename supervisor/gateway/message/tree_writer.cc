#include "supervisor/gateway/message/tree_writer.h"

#include <algorithm>

namespace cellblock::gateway {

namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace cellblock::gateway
