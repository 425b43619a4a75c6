#include "supervisor/gateway/checks/metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "policy/mcp/lists.h"
#include "supervisor/gateway/checks/schema_shape.h"
#include "supervisor/gateway/checks/visible_text.h"

namespace cellblock::gateway {
namespace {

using Json = nlohmann::ordered_json;

// What is carried for programs may be long (an icon as a data: URI, a default value); the bound of
// the whole item holds for it.
bool is_for_reading(std::string_view key) { return key == "description" || key == "title"; }

std::size_t identity_limit(ListKind kind) {
  const bool is_uri = kind == ListKind::resources || kind == ListKind::resource_templates;
  return is_uri ? max_item_uri : max_item_name;
}

void clean_string(Json& value, std::string_view key, Findings& findings) {
  auto& text = value.get_ref<std::string&>();
  if (auto visible = made_visible(text)) {
    text = std::move(*visible);
    ++findings[Finding::made_visible];
  }
  if (!is_for_reading(key)) return;
  if (auto shorter = cut_to(text, max_description)) {
    text = std::move(*shorter);
    ++findings[Finding::cut];
  }
}

// Only on what passed is_too_deep: it goes down as deep as the value does.
void clean_strings(Json& value, std::string_view key, Findings& findings) {
  if (value.is_string()) return clean_string(value, key, findings);
  if (value.is_array()) {
    for (Json& element : value) clean_strings(element, key, findings);
  }
  if (value.is_object()) {
    for (auto& [name, member] : value.items()) clean_strings(member, name, findings);
  }
}

bool is_sound_name(std::string_view name, std::size_t limit) {
  return !name.empty() && name.size() <= limit && !has_hidden(name);
}

/// One list's way through; remembers the names that were there.
class ItemJudge {
 public:
  explicit ItemJudge(ListKind kind) : kind_(kind) {}

  /// nullopt: it may stay.
  std::optional<Finding> refuse(const Json& item) {
    const std::string* name = identity(item);
    if (name == nullptr || !is_sound_name(*name, identity_limit(kind_))) return Finding::bad_name;
    if (!has_sound_label(item)) return Finding::bad_name;
    if (seen_.contains(*name)) return Finding::duplicate;
    if (seen_.size() == max_items) return Finding::too_many;
    if (is_deeper_than(item, max_item_depth)) return Finding::too_large;
    if (is_larger_than(item, max_item_bytes)) return Finding::too_large;
    if (has_hidden_key(item)) return Finding::bad_key;
    if (refers_outside(item)) return Finding::external_ref;
    seen_.insert(*name);
    return std::nullopt;
  }

 private:
  const std::string* identity(const Json& item) const {
    if (!item.is_object()) return nullptr;
    const auto found = item.find(mcp::facts_of(kind_).identity);
    return found == item.end() ? nullptr : found->get_ptr<const std::string*>();
  }

  // Of resources, whose identity is the URI: the name is shown all the same.
  static bool has_sound_label(const Json& item) {
    const auto found = item.find("name");
    if (found == item.end()) return true;
    const auto* name = found->get_ptr<const std::string*>();
    return name != nullptr && name->size() <= max_item_name && !has_hidden(*name);
  }

  static bool refers_outside(const Json& item) {
    return std::ranges::any_of(std::array{"inputSchema", "outputSchema"}, [&](const char* key) {
      const auto schema = item.find(key);
      return schema != item.end() && has_external_ref(*schema);
    });
  }

  ListKind kind_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

std::string_view name_of(Finding finding) {
  constexpr std::array<std::string_view, finding_count> names{
      "bad_name",  "bad_key",  "duplicate",    "external_ref",
      "too_large", "too_many", "made_visible", "cut"};
  return names.at(static_cast<std::size_t>(finding));
}

void Findings::add(const Findings& more) {
  for (std::size_t i = 0; i < finding_count; ++i) counts.at(i) += more.counts.at(i);
}

Findings clean_items(Json& items, ListKind kind) {
  Findings findings;
  ItemJudge judge(kind);
  Json kept = Json::array();
  if (items.is_array()) {
    for (Json& item : items) {
      if (const auto refused = judge.refuse(item)) {
        ++findings[*refused];
        continue;
      }
      clean_strings(item, {}, findings);
      kept.push_back(std::move(item));
    }
  }
  items = std::move(kept);
  return findings;
}

Findings clean_text(Json& value) {
  Findings findings;
  if (is_deeper_than(value, max_item_depth) || has_hidden_key(value)) {
    value = Json::object();
    ++findings[Finding::too_large];
    return findings;
  }
  clean_strings(value, {}, findings);
  return findings;
}

std::optional<std::string> cleaned_instructions(std::string_view text, Findings& findings) {
  auto result = made_visible(text);
  if (result) ++findings[Finding::made_visible];
  if (auto shorter = cut_to(result ? *result : text, max_instructions)) {
    ++findings[Finding::cut];
    result = std::move(shorter);
  }
  return result;
}

}  // namespace cellblock::gateway
