#include "supervisor/gateway/checks/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "policy/base/printable.h"
#include "policy/mcp/methods.h"

namespace cellblock::gateway {
namespace {

constexpr char32_t joiner = 0x200D;
constexpr char32_t text_form = 0xFE0E;
constexpr char32_t emoji_form = 0xFE0F;

// Of what cut_to() says: so that what it returns is not cut again.
constexpr std::size_t cut_note = 36;

bool is_form(char32_t value) { return value == text_form || value == emoji_form; }

bool is_pictograph(char32_t value) {
  return (value >= 0x2190 && value <= 0x2BFF) || value == 0x3030 || value == 0x303D ||
         value == 0x3297 || value == 0x3299 || (value >= 0x1F000 && value <= 0x1FAFF);
}

bool takes_a_form(char32_t value) {
  const bool keycap = value == '#' || value == '*' || (value >= '0' && value <= '9');
  return keycap || value == 0xA9 || value == 0xAE || value == 0x203C || value == 0x2049 ||
         value == 0x2122 || value == 0x2139 || is_pictograph(value);
}

bool is_control(char32_t value) { return value < 0x20 || value == 0x7F; }

/// Two characters back, so that a row of selectors or joiners, which could carry a message, is not
/// taken for emojis.
class Reader {
 public:
  bool may_stay(char32_t value, std::string_view rest) const {
    if (value == '\t' || value == '\n') return true;
    if (value == '\r') return rest.starts_with('\n');
    if (is_control(value)) return false;
    if (is_form(value)) return takes_a_form(last_);
    if (value == joiner) return is_pictograph(is_form(last_) ? before_ : last_);
    return !is_hidden(value);
  }

  void passed(char32_t value) {
    before_ = last_;
    last_ = value;
  }

 private:
  char32_t last_ = 0;
  char32_t before_ = 0;
};

void append_visible(std::string& text, const CodePoint& point, char byte) {
  if (point.length == 0) {
    text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  } else {
    text += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(point.value));
  }
}

bool is_plain(char byte) { return byte >= 0x20 && byte < 0x7F; }

std::size_t plain_start(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, is_plain);
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

std::optional<std::string> made_visible(std::string_view text) {
  if (plain_start(text) == text.size()) return std::nullopt;
  std::string visible;
  visible.reserve(text.size());
  bool changed = false;
  Reader reader;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    const std::size_t length = std::max<std::size_t>(point.length, 1);
    if (point.length != 0 && reader.may_stay(point.value, text.substr(length))) {
      visible += text.substr(0, length);
    } else {
      append_visible(visible, point, text.front());
      changed = true;
    }
    reader.passed(point.value);
    text.remove_prefix(length);
  }
  if (!changed) return std::nullopt;
  return visible;
}

bool has_hidden(std::string_view name) {
  name.remove_prefix(plain_start(name));
  while (!name.empty()) {
    const CodePoint point = first_code_point(name);
    if (point.length == 0 || is_control(point.value) || is_hidden(point.value)) return true;
    name.remove_prefix(point.length);
  }
  return false;
}

std::optional<std::string> cut_to(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::nullopt;
  std::size_t end = limit - std::min(limit, cut_note);
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("{}…[{} more bytes]", text.substr(0, end), text.size() - end);
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t each_value = 4;  // a number or a word and its comma

// False: what is left of `room` is not enough.
bool fits(const Json& value, std::size_t& room) {
  std::size_t size = each_value;
  if (value.is_string()) size += value.get_ref<const std::string&>().size();
  if (size > room) return false;
  room -= size;
  if (value.is_array()) {
    return std::ranges::all_of(value, [&room](const Json& inner) { return fits(inner, room); });
  }
  if (!value.is_object()) return true;
  for (const auto& [key, inner] : value.items()) {
    if (key.size() > room) return false;
    room -= key.size();
    if (!fits(inner, room)) return false;
  }
  return true;
}

bool is_ref(std::string_view key) {
  return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef";
}

bool points_outside(const Json& target) {
  return target.is_string() && !target.get_ref<const std::string&>().starts_with('#');
}

}  // namespace

bool is_deeper_than(const Json& value, unsigned levels) {
  if (!value.is_structured()) return false;
  if (levels == 0) return true;
  return std::ranges::any_of(
      value, [levels](const Json& inner) { return is_deeper_than(inner, levels - 1); });
}

bool is_larger_than(const Json& value, std::size_t bytes) { return !fits(value, bytes); }

bool has_external_ref(const Json& schema) {
  if (schema.is_array()) return std::ranges::any_of(schema, has_external_ref);
  if (!schema.is_object()) return false;
  return std::ranges::any_of(schema.items(), [](const auto& member) {
    if (is_ref(member.key()) && points_outside(member.value())) return true;
    return has_external_ref(member.value());
  });
}

bool has_hidden_key(const Json& value) {
  if (value.is_array()) return std::ranges::any_of(value, has_hidden_key);
  if (!value.is_object()) return false;
  return std::ranges::any_of(value.items(), [](const auto& member) {
    return has_hidden(member.key()) || has_hidden_key(member.value());
  });
}

namespace {

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
