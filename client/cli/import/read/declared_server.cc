#include "client/cli/import/read/declared_server.h"

#include <fmt/format.h>

#include <utility>

namespace cellblock::cli {
namespace {

using Json = nlohmann::ordered_json;

const Json* find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::unexpected<Error> wrong(const char* name, const char* expected) {
  return fail(fmt::format("\"{}\" is not {}", name, expected));
}

Result<std::string> bounded_text(const Json& value, const char* name) {
  if (!value.is_string()) return wrong(name, "text");
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > max_import_text) return wrong(name, "of a sensible length");
  if (text.find('\0') != std::string::npos) return wrong(name, "text without a NUL");
  return text;
}

Result<std::string> scalar_text(const Json& value, const char* name) {
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (value.is_null()) return std::string();
  return bounded_text(value, name);
}

}  // namespace

Result<std::string> text_member(const Json& object, const char* name) {
  const Json* value = find(object, name);
  return value == nullptr ? Result<std::string>(std::string()) : bounded_text(*value, name);
}

Result<std::vector<std::string>> texts_member(const Json& object, const char* name) {
  std::vector<std::string> texts;
  const Json* list = find(object, name);
  if (list == nullptr) return texts;
  if (!list->is_array() || list->size() > max_import_texts) return wrong(name, "a list of texts");
  for (const auto& value : *list) {
    auto text = CELLBLOCK_TRY(bounded_text(value, name));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<DeclaredVariable>> variables_member(const Json& object, const char* name) {
  std::vector<DeclaredVariable> variables;
  const Json* table = find(object, name);
  if (table == nullptr) return variables;
  if (!table->is_object() || table->size() > max_import_texts) return wrong(name, "an object");
  for (const auto& [key, value] : table->items()) {
    auto text = CELLBLOCK_TRY(scalar_text(value, name));
    variables.push_back({.name = key, .value = std::move(text)});
  }
  return variables;
}

bool is_true(const Json& object, const char* name) {
  const Json* value = find(object, name);
  return value != nullptr && *value == Json(true);
}

const Json& object_member(const Json& object, const char* name) {
  static const Json none = Json::object();
  const Json* value = find(object, name);
  return value != nullptr && value->is_object() ? *value : none;
}

const Json& array_member(const Json& object, const char* name) {
  static const Json none = Json::array();
  const Json* value = find(object, name);
  return value != nullptr && value->is_array() ? *value : none;
}

}  // namespace cellblock::cli
