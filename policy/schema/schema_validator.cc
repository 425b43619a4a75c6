#include "policy/schema/schema_validator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

// Values and types in the texts of faults. Everything is printable.

constexpr std::size_t longest_schema_word = 80;

using Json = nlohmann::ordered_json;

TypeMask type_of(const Json& value) {
  if (value.is_null()) return schema_type::null;
  if (value.is_boolean()) return schema_type::boolean;
  if (value.is_object()) return schema_type::object;
  if (value.is_array()) return schema_type::array;
  if (value.is_string()) return schema_type::string;
  const long double number = schema_number(value);
  const bool is_whole = std::isfinite(number) && std::floor(number) == number;
  return is_whole ? schema_type::integer | schema_type::number : schema_type::number;
}

// "an integer"
std::string_view name_of_type(TypeMask type) {
  if ((type & schema_type::integer) != 0) return "an integer";
  if ((type & schema_type::number) != 0) return "a number";
  if ((type & schema_type::string) != 0) return "a string";
  if ((type & schema_type::object) != 0) return "an object";
  if ((type & schema_type::array) != 0) return "an array";
  return (type & schema_type::boolean) != 0 ? "a boolean" : "null";
}

// "a string or null"
std::string names_of_types(TypeMask types) {
  constexpr std::array all{schema_type::string, schema_type::number, schema_type::integer,
                           schema_type::object, schema_type::array,  schema_type::boolean,
                           schema_type::null};
  std::string text;
  for (const TypeMask type : all) {
    if ((types & type) == 0) continue;
    if (type == schema_type::integer && (types & schema_type::number) != 0) continue;
    text += (text.empty() ? "" : " or ") + std::string(name_of_type(type));
  }
  return text;
}

std::string shown(const Json& value) {
  if (value.is_binary()) return "a number";
  // Asked for at every value that does not fit, whatever its size: only what is short is written
  // out.
  if (value.is_structured() && !value.empty()) {
    return value.is_array() ? "a certain array" : "a certain object";
  }
  if (value.is_string()) {
    const std::string_view text = value.get_ref<const std::string&>();
    if (text.size() > longest_schema_word) {
      return '"' + printable(text.substr(0, longest_schema_word), longest_schema_word) + "…\"";
    }
  }
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), longest_schema_word);
}

// One step of a JSON pointer.
std::string escaped(std::string_view token) {
  std::string text;
  for (const char c : printable(token, longest_schema_word)) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

using Fault = std::optional<SchemaFault>;

constexpr unsigned deepest = 512;  // of schemas inside schemas, references too
constexpr std::size_t bytes_per_step = 256;
constexpr std::size_t digits_per_step = 16;
constexpr std::size_t names_per_step = 64;
constexpr std::size_t most_named = 20;

bool is_number(const Json& value) { return value.is_number() || value.is_binary(); }

/// One value against one schema; counts what it does.
class Checker {
 public:
  Checker(const JsonSchema& schema, std::size_t steps) : schema_(schema), steps_(steps) {}

  Fault check(SchemaIndex index, const Json& value) {
    if (!spend(1) || depth_ == deepest) return too_much();
    ++depth_;
    Fault fault = check_node(schema_.nodes[index], value);
    --depth_;
    return fault;
  }

 private:
  bool spend(std::size_t steps) {
    if (is_spent_ || steps > steps_) return is_spent_ = true, false;
    steps_ -= steps;
    return true;
  }

  // A number that is kept as it was written is read each time that it is looked at.
  static std::size_t steps_of(const Json& value) {
    return value.is_binary() ? value.get_binary().size() / digits_per_step : 0;
  }

  // An ordered object is looked through, and all its names may begin alike.
  static std::size_t steps_to_find(const Json& object, const std::string& name) {
    return object.size() / names_per_step + object.size() * (name.size() / bytes_per_step);
  }

  // It is no answer to a question either: what asks whether something fits has to end as well.
  Fault too_much() {
    is_spent_ = true;
    return SchemaFault{path_, "something that can be checked in less time"};
  }

  Fault fault(std::string expected) const { return SchemaFault{path_, std::move(expected)}; }

  bool fits(SchemaIndex index, const Json& value) { return !check(index, value); }

  Fault below(const std::string& token, SchemaIndex index, const Json& value) {
    const std::size_t length = path_.size();
    path_ += '/';
    path_ += escaped(token);
    Fault found = check(index, value);
    path_.resize(length);
    return found;
  }

  Fault check_node(const SchemaNode& node, const Json& value) {
    if (!spend(steps_of(value))) return too_much();
    if (node.is_false) return fault("nothing here");
    if (node.reference != no_schema) {
      if (Fault found = check(node.reference, value)) return found;
    }
    const TypeMask type = type_of(value);
    if ((node.types & type) == 0) {
      return fault(names_of_types(node.types) + ", and it is " + std::string(name_of_type(type)));
    }
    if (Fault found = check_values(node, value)) return found;
    Fault found = value.is_string()   ? check_string(node, value)
                  : value.is_array()  ? check_array(node, value)
                  : value.is_object() ? check_object(node, value)
                  : is_number(value)  ? check_number(node, value)
                                      : std::nullopt;
    return found ? std::move(found) : check_combined(node, value);
  }

  // --- values ------------------------------------------------------------------------------------

  bool is_same(const Json& a, const Json& b) {
    if (!spend(1 + steps_of(a) + steps_of(b))) return false;
    if (is_number(a) && is_number(b)) return schema_number(a) == schema_number(b);
    if (a.type() != b.type()) return false;
    if (a.is_string()) {
      const auto& text = a.get_ref<const std::string&>();
      return spend(text.size() / bytes_per_step) && text == b.get_ref<const std::string&>();
    }
    if (!a.is_structured()) return a == b;
    if (a.size() != b.size()) return false;
    if (a.is_array()) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (!is_same(a[i], b[i])) return false;
      }
      return true;
    }
    for (const auto& [key, value] : a.items()) {
      if (!spend(steps_to_find(b, key))) return false;
      const auto other = b.find(key);
      if (other == b.end() || !is_same(value, *other)) return false;
    }
    return true;
  }

  Fault check_values(const SchemaNode& node, const Json& value) {
    if (!node.has_enum) return std::nullopt;
    for (const Json& one : node.values) {
      if (is_same(one, value)) return std::nullopt;
    }
    if (is_spent_) return too_much();
    std::string text;
    for (std::size_t i = 0; i < node.values.size() && i < most_named; ++i) {
      text += (i == 0 ? "" : ", ") + shown(node.values[i]);
    }
    if (node.values.size() > most_named) text += ", …";
    return fault((node.values.size() == 1 ? "" : "one of ") + text);
  }

  Fault check_number(const SchemaNode& node, const Json& value) const {
    const long double number = schema_number(value);
    const auto text = [](long double bound) {
      return fmt::format("{}", static_cast<double>(bound));
    };
    if (node.minimum && number < *node.minimum) {
      return fault("a number of at least " + text(*node.minimum));
    }
    if (node.maximum && number > *node.maximum) {
      return fault("a number of at most " + text(*node.maximum));
    }
    if (node.above && number <= *node.above) return fault("a number above " + text(*node.above));
    if (node.below && number >= *node.below) return fault("a number below " + text(*node.below));
    if (node.multiple_of && !is_multiple(number, *node.multiple_of)) {
      return fault("a multiple of " + text(*node.multiple_of));
    }
    return std::nullopt;
  }

  // 0.3 is three times 0.1 to whoever wrote it, though not to a computer.
  static bool is_multiple(long double number, long double of) {
    const long double times = number / of;
    const long double nearest = std::round(times);
    return std::abs(times - nearest) <= 1e-9L * std::max(1.0L, std::abs(times));
  }

  static std::string count_text(const SchemaCount& count, std::string_view of) {
    if (count.min == count.max) return fmt::format("exactly {} {}", count.min, of);
    if (count.max == SchemaCount{}.max) return fmt::format("at least {} {}", count.min, of);
    if (count.min == 0) return fmt::format("at most {} {}", count.max, of);
    return fmt::format("{} to {} {}", count.min, count.max, of);
  }

  Fault check_count(const SchemaCount& count, std::size_t size, std::string_view of) const {
    if (size >= count.min && size <= count.max) return std::nullopt;
    return fault(fmt::format("{}, and it has {}", count_text(count, of), size));
  }

  bool matches(const SchemaPattern& pattern, const std::string& text) {
    return spend(1 + text.size() / bytes_per_step) && RE2::PartialMatch(text, *pattern.expression);
  }

  Fault check_string(const SchemaNode& node, const Json& value) {
    const auto& text = value.get_ref<const std::string&>();
    if (!spend(text.size() / bytes_per_step)) return too_much();
    if (Fault found = check_count(node.length, characters_in(text), "characters")) return found;
    if (!node.pattern || matches(*node.pattern, text)) return std::nullopt;
    if (is_spent_) return too_much();
    return fault("a text that matches " + printable(node.pattern->text, longest_schema_word));
  }

  // --- arrays ------------------------------------------------------------------------------------

  Fault check_array(const SchemaNode& node, const Json& value) {
    if (Fault found = check_count(node.items_count, value.size(), "items")) return found;
    const std::size_t held = node.items == no_schema ? node.prefix.size() : value.size();
    for (std::size_t i = 0; i < std::min(held, value.size()); ++i) {
      const SchemaIndex index = i < node.prefix.size() ? node.prefix[i] : node.items;
      if (Fault found = below(std::to_string(i), index, value[i])) return found;
    }
    if (node.unique && has_twins(value)) {
      return is_spent_ ? too_much() : fault("items that all differ");
    }
    return node.contains == no_schema ? std::nullopt : check_contained(node, value);
  }

  bool has_twins(const Json& array) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      for (std::size_t j = i + 1; j < array.size(); ++j) {
        if (is_same(array[i], array[j]) || is_spent_) return true;
      }
    }
    return false;
  }

  Fault check_contained(const SchemaNode& node, const Json& value) {
    std::size_t count = 0;
    for (const Json& item : value) count += fits(node.contains, item) ? 1 : 0;
    if (is_spent_) return too_much();
    return check_count(node.contains_count, count, "items of one kind (contains)");
  }

  // --- objects -----------------------------------------------------------------------------------

  bool has(const Json& object, const std::string& name) {
    return spend(1 + steps_to_find(object, name)) && object.contains(name);
  }

  Fault check_object(const SchemaNode& node, const Json& value) {
    if (Fault found = check_count(node.members_count, value.size(), "members")) return found;
    for (const std::string& name : node.required) {
      if (has(value, name)) continue;
      return is_spent_ ? too_much() : fault(fmt::format("a member \"{}\"", escaped(name)));
    }
    for (const auto& [name, member] : value.items()) {
      if (Fault found = check_member(node, name, member)) return found;
    }
    return check_needs(node, value);
  }

  Fault check_member(const SchemaNode& node, const std::string& name, const Json& member) {
    if (!spend(1 + name.size() / bytes_per_step)) return too_much();
    if (node.names != no_schema) {
      if (!fits(node.names, Json(name))) {
        return is_spent_ ? too_much()
                         : fault(fmt::format("another name than \"{}\"", escaped(name)));
      }
    }
    bool is_known = false;
    if (const auto known = node.properties.find(name); known != node.properties.end()) {
      is_known = true;
      if (Fault found = below(name, known->second, member)) return found;
    }
    for (const auto& [pattern, index] : node.pattern_properties) {
      if (!matches(pattern, name)) continue;
      is_known = true;
      if (Fault found = below(name, index, member)) return found;
    }
    if (is_spent_) return too_much();
    if (is_known || node.additional == no_schema) return std::nullopt;
    if (schema_.nodes[node.additional].is_false) return unknown_member(node, name);
    return below(name, node.additional, member);
  }

  Fault unknown_member(const SchemaNode& node, const std::string& name) const {
    std::string known;
    for (std::size_t i = 0; i < node.property_order.size() && i < most_named; ++i) {
      known += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", escaped(node.property_order[i]));
    }
    if (node.property_order.size() > most_named) known += ", …";
    return SchemaFault{path_ + "/" + escaped(name),
                       known.empty() ? "no members" : "no such member; there are " + known};
  }

  Fault check_needs(const SchemaNode& node, const Json& value) {
    for (const auto& [name, needed] : node.needs) {
      if (!has(value, name)) continue;
      for (const std::string& other : needed) {
        if (has(value, other)) continue;
        return is_spent_ ? too_much()
                         : fault(fmt::format("a member \"{}\" beside \"{}\"", escaped(other),
                                             escaped(name)));
      }
    }
    for (const auto& [name, index] : node.needs_schema) {
      if (!has(value, name)) continue;
      if (Fault found = check(index, value)) return found;
    }
    return is_spent_ ? too_much() : std::nullopt;
  }

  // --- several schemas ---------------------------------------------------------------------------

  Fault check_combined(const SchemaNode& node, const Json& value) {
    for (const SchemaIndex index : node.all_of) {
      if (Fault found = check(index, value)) return found;
    }
    if (!node.any_of.empty()) {
      if (Fault found = check_any(node.any_of, value)) return found;
    }
    if (!node.one_of.empty()) {
      if (Fault found = check_one(node.one_of, value)) return found;
    }
    if (node.not_of != no_schema && fits(node.not_of, value)) {
      return fault("something else than `not` says");
    }
    if (node.condition != no_schema) {
      const SchemaIndex then = fits(node.condition, value) ? node.then_of : node.else_of;
      if (is_spent_) return too_much();
      if (then != no_schema) return check(then, value);
    }
    return is_spent_ ? too_much() : std::nullopt;
  }

  // Of several that do not fit, the one that was followed furthest is what was meant.
  Fault check_any(const std::vector<SchemaIndex>& indices, const Json& value) {
    Fault nearest;
    for (const SchemaIndex index : indices) {
      Fault found = check(index, value);
      if (!found) return std::nullopt;
      if (is_spent_) return too_much();
      if (!nearest || found->pointer.size() > nearest->pointer.size()) nearest = std::move(found);
    }
    if (nearest->pointer == path_) {
      nearest->expected = one_of_these(indices, value, nearest->expected);
    }
    return nearest;
  }

  std::string one_of_these(const std::vector<SchemaIndex>& indices, const Json& value,
                           const std::string& first) {
    if (indices.size() == 1 || indices.size() > most_named) return first;
    std::string text;
    for (const SchemaIndex index : indices) {
      const Fault found = check(index, value);
      if (!found || found->expected.size() > 4 * longest_schema_word) continue;
      const std::string one = found->expected.substr(0, found->expected.find(", and it is "));
      if (text.find(one) == std::string::npos) text += (text.empty() ? "" : "; or ") + one;
    }
    return text;
  }

  Fault check_one(const std::vector<SchemaIndex>& indices, const Json& value) {
    std::size_t count = 0;
    for (const SchemaIndex index : indices) count += fits(index, value) ? 1 : 0;
    if (is_spent_) return too_much();
    if (count == 0) return check_any(indices, value);
    if (count == 1) return std::nullopt;
    return fault(
        fmt::format("what only one of {} forms (oneOf) fits, and {} do", indices.size(), count));
  }

  const JsonSchema& schema_;
  std::size_t steps_;
  bool is_spent_ = false;
  unsigned depth_ = 0;
  std::string path_;
};

}  // namespace

std::optional<SchemaFault> schema_fault(const JsonSchema& schema, const Json& value,
                                        std::size_t max_steps) {
  return Checker(schema, max_steps).check(0, value);
}

}  // namespace cellblock
