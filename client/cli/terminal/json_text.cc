#include "client/cli/terminal/json_text.h"

#include <algorithm>
#include <iterator>

#include "client/cli/terminal/terminal_text.h"

namespace cellblock::cli {

std::string text_of(const Json& object, const char* name) {
  return safe_line(raw_text(object, name));
}

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string raw_text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t number_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

Json object_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_object() ? *found : Json::object();
}

std::vector<Json> objects_of(const Json& object, const char* name) {
  std::vector<Json> objects;
  if (!object.contains(name) || !object[name].is_array()) return objects;
  std::ranges::copy_if(object[name], std::back_inserter(objects),
                       [](const Json& element) { return element.is_object(); });
  return objects;
}

std::vector<std::string> texts_of(const Json& object, const char* name) {
  std::vector<std::string> texts;
  if (!object.contains(name) || !object[name].is_array()) return texts;
  for (const auto& element : object[name]) {
    if (element.is_string()) texts.push_back(safe_line(element.get<std::string>()));
  }
  return texts;
}

}  // namespace cellblock::cli
