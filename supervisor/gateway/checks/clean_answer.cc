#include "supervisor/gateway/checks/clean_answer.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "policy/mcp/methods.h"
#include "supervisor/gateway/checks/list_pages.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

// What has no name exists for nobody.
void keep_only(Json& items, ListKind kind, const MayShow& may_show) {
  const std::string key(mcp::facts_of(kind).identity);
  Json kept = Json::array();
  if (!items.is_array()) items = Json::array();
  for (Json& item : items) {
    const auto name = item.is_object() ? item.find(key) : item.end();
    if (!item.is_object() || name == item.end() || !name->is_string()) continue;
    if (may_show(name->get_ref<const std::string&>())) kept.push_back(std::move(item));
  }
  items = std::move(kept);
}

Findings clean_member(Json& object, const char* name) {
  const auto member = object.find(name);
  return member == object.end() ? Findings{} : clean_text(*member);
}

}  // namespace

std::optional<std::string> cleaned_list(ListKind kind, std::string_view result,
                                        const MayShow& may_show, Findings& findings,
                                        const SeeItems& see) {
  Json json = read_tree(result);
  const auto items = json.is_object() ? json.find(mcp::facts_of(kind).items) : json.end();
  if (!json.is_object() || items == json.end()) return std::nullopt;
  const Findings found = clean_items(*items, kind);
  if (see) see(*items, !json.contains("nextCursor"));
  if (!found.any()) return std::nullopt;
  findings.add(found);
  keep_only(*items, kind, may_show);
  return write_tree(json);
}

std::optional<std::string> narrowed_list(ListKind kind, std::string_view result,
                                         const MayShow& may_show) {
  Json json = read_tree(result);
  const auto items = json.is_object() ? json.find(mcp::facts_of(kind).items) : json.end();
  if (!json.is_object() || items == json.end()) return std::nullopt;
  keep_only(*items, kind, may_show);
  return write_tree(json);
}

std::optional<std::string> cleaned_introduction(std::string_view result, Findings& findings) {
  Json json = read_tree(result);
  if (!json.is_object()) return std::nullopt;
  Findings found = clean_member(json, "serverInfo");
  found.add(clean_member(json, "_meta"));
  if (const auto text = json.find("instructions"); text != json.end() && text->is_string()) {
    auto cleaned = cleaned_instructions(text->get_ref<const std::string&>(), found);
    if (cleaned) *text = std::move(*cleaned);
  }
  if (!found.any()) return std::nullopt;
  findings.add(found);
  return write_tree(json);
}

}  // namespace cellblock::gateway
