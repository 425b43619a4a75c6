#include "supervisor/loader/report/key_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "policy/config_reader/key_list.h"

namespace cellblock {
namespace {

using Json = nlohmann::ordered_json;

bool is_table(const KeyEntry& key) {
  return key.kind == KeyKind::table || key.kind == KeyKind::tables;
}

std::string standard_text(const KeyEntry& key) {
  if (key.standard.empty()) return {};
  return key.standard == "required" ? "; required" : fmt::format("; default {}", key.standard);
}

std::string value_text(const KeyEntry& key) {
  std::string text(name_of(key.kind));
  if (!key.allowed.empty()) text += fmt::format(": {}", key.allowed);
  return text + standard_text(key);
}

// Escapes bars, which would end the table's cell.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string in_code(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", cell(text));
}

std::string_view parent_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(0, dot);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string heading_of(std::string_view table) {
  if (table.ends_with("[]")) return fmt::format("[[{}]]", table.substr(0, table.size() - 2));
  return fmt::format("[{}]", table);
}

// Names a table again if keys of another table stand between its own.
std::string table_markdown(const std::vector<KeyEntry>& keys, std::string_view table) {
  std::string rows;
  for (const KeyEntry& key : keys) {
    if (parent_of(key.path) != table || is_table(key)) continue;
    rows += fmt::format("| `{}` | {} | {} | {} | {} |\n", last_part(key.path), name_of(key.kind),
                        cell(key.allowed), in_code(key.standard), cell(key.about));
  }
  if (rows.empty()) return {};
  return fmt::format(
      "## `{}`\n\n| key | type | allowed | default | meaning |\n|---|---|---|---|---|\n{}\n",
      heading_of(table), rows);
}

std::vector<std::string_view> tables_of(const std::vector<KeyEntry>& keys) {
  std::vector<std::string_view> tables;
  for (const KeyEntry& key : keys) {
    const auto table = parent_of(key.path);
    if (std::ranges::find(tables, table) == tables.end()) tables.push_back(table);
  }
  return tables;
}

bool is_chosen(std::string_view part) {
  return std::ranges::all_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
}

Json of_type(std::string_view type) { return Json{{"type", type}}; }

Json any_of(std::initializer_list<std::string_view> types) {
  Json choices = Json::array();
  for (const auto type : types) choices.push_back(type);
  return Json{{"type", std::move(choices)}};
}

Json list_of(Json items) { return Json{{"type", "array"}, {"items", std::move(items)}}; }

Json type_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::table:
      return Json{{"type", "object"}, {"additionalProperties", false}};
    case KeyKind::tables:
      return list_of(type_of(KeyKind::table));
    case KeyKind::size:
    case KeyKind::time:
    case KeyKind::text:
      return of_type("string");
    case KeyKind::integer:
      return of_type("integer");
    case KeyKind::number:
      return of_type("number");
    case KeyKind::flag:
      return of_type("boolean");
    case KeyKind::texts:
      return list_of(of_type("string"));
    case KeyKind::id:
      return any_of({"string", "integer"});
    case KeyKind::ids:
      return list_of(any_of({"string", "integer"}));
    case KeyKind::scalar:
      return any_of({"string", "number", "boolean"});
    case KeyKind::scalars:
      return list_of(any_of({"string", "number", "boolean"}));
    case KeyKind::strings:
      return Json{{"type", "object"}, {"additionalProperties", of_type("string")}};
    case KeyKind::secret:
    case KeyKind::action:
      return Json{{"type", Json::array({"string", "object"})}, {"additionalProperties", false}};
  }
  return Json::object();
}

Json schema_of(const KeyEntry& key) {
  Json schema = type_of(key.kind);
  std::string about = key.about;
  if (!key.allowed.empty()) about += fmt::format(" ({})", key.allowed);
  about += standard_text(key);
  if (!about.empty()) schema["description"] = about;
  if (!key.words.empty()) schema["enum"] = key.words;
  if (key.least) schema["minimum"] = *key.least;
  if (key.most) schema["maximum"] = *key.most;
  return schema;
}

// The schema object of the table at that path, to which its keys are added.
Json& table_at(Json& root, std::string_view path) {
  if (path.empty()) return root;
  Json& parent = table_at(root, parent_of(path));
  std::string_view part = last_part(path);
  if (is_chosen(part)) return parent["additionalProperties"];
  const bool is_list = part.ends_with("[]");
  if (is_list) part.remove_suffix(2);
  Json& table = parent["properties"][std::string(part)];
  return is_list ? table["items"] : table;
}

void put(Json& root, const KeyEntry& key) {
  Json& parent = table_at(root, parent_of(key.path));
  const std::string part(last_part(key.path));
  if (is_chosen(part)) {
    parent["additionalProperties"] = schema_of(key);
  } else {
    parent["properties"][part] = schema_of(key);
  }
}

}  // namespace

std::optional<std::string> keys_text(std::string_view part) {
  std::string text;
  for (const KeyEntry& key : keys_below(list_keys(), part)) {
    text += fmt::format("{}\n    {}\n", key.path, value_text(key));
    if (!key.about.empty()) text += fmt::format("    {}\n", key.about);
  }
  if (text.empty()) return std::nullopt;
  return text;
}

std::string keys_markdown() {
  const std::vector<KeyEntry> keys = list_keys();
  std::string page =
      "# Every key\n\nMade by `cellblockd --keys --markdown`; what the keys are for is told in "
      "[configuration.md](../configuration.md). A part in capitals is a name that you choose.\n\n";
  for (const std::string_view table : tables_of(keys)) page += table_markdown(keys, table);
  page.pop_back();
  return page;
}

std::string keys_schema() {
  Json root{{"$schema", "http://json-schema.org/draft-07/schema#"},
            {"title", "cellblock.toml"},
            {"type", "object"},
            {"additionalProperties", false}};
  for (const KeyEntry& key : list_keys()) put(root, key);
  return root.dump(2) + "\n";
}

}  // namespace cellblock
