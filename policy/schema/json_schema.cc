#include "policy/schema/json_schema.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t pattern_memory = 1 << 20;
constexpr std::size_t longest_named = 80;

/// Why a schema is of no use: thrown, since it is found deep in a recursion, and caught in
/// make_schema.
struct Unusable {
  std::string why;
};

struct NamedType {
  std::string_view name;
  TypeMask bits;
};
constexpr std::array<NamedType, 7> named_types{
    {{"null", schema_type::null},
     {"boolean", schema_type::boolean},
     {"object", schema_type::object},
     {"array", schema_type::array},
     {"number", schema_type::number | schema_type::integer},
     {"integer", schema_type::integer},
     {"string", schema_type::string}}};

TypeMask type_named(const Json& json) {
  if (json.is_string()) {
    const auto found =
        std::ranges::find(named_types, json.get_ref<const std::string&>(), &NamedType::name);
    if (found != named_types.end()) return found->bits;
  }
  throw Unusable{"a type that JSON does not have"};
}

bool is_old_draft(const Json& root) {
  if (!root.is_object()) return false;
  const auto schema = root.find("$schema");
  if (schema == root.end() || !schema->is_string()) return false;
  return schema->get_ref<const std::string&>().find("/draft-0") != std::string::npos;
}

// "~1", "~0" and "%25" of a reference's fragment.
std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '%' && i + 2 < token.size()) {
      const std::string hex(token.substr(i + 1, 2));
      text += static_cast<char>(std::strtoul(hex.c_str(), nullptr, 16));
      i += 2;
    } else {
      text += token[i];
    }
  }
  for (const auto& [from, to] : {std::pair{"~1", "/"}, std::pair{"~0", "~"}}) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
      text.replace(at, 2, to);
    }
  }
  return text;
}

class Maker {
 public:
  Maker(const Json& root, const SchemaLimits& limits)
      : root_(root), limits_(limits), is_old_(is_old_draft(root)) {}

  JsonSchema make() {
    node_of(root_);
    return std::move(schema_);
  }

 private:
  using Members = const Json&;

  /// The place of a schema that may be begun and not finished: recursion is by reference.
  SchemaIndex node_of(const Json& json) {
    const auto known = places_.find(&json);
    if (known != places_.end()) return known->second;
    if (schema_.nodes.size() == limits_.nodes) throw Unusable{"too many schemas in it"};
    const auto index = static_cast<SchemaIndex>(schema_.nodes.size());
    places_.emplace(&json, index);
    schema_.nodes.emplace_back();
    SchemaNode node;
    fill(json, node);
    schema_.nodes[index] = std::move(node);
    return index;
  }

  void fill(const Json& json, SchemaNode& node) {
    if (json.is_boolean()) {
      node.is_false = !json.get<bool>();
      return;
    }
    if (!json.is_object()) throw Unusable{"a schema that is no object"};
    if (&json != &root_ && json.contains("$id")) throw Unusable{"a schema with an $id of its own"};
    refer(json, node);
    if (is_old_ && node.reference != no_schema) return;  // what stands beside $ref says nothing
    fill_values(json, node);
    fill_numbers(json, node);
    fill_string(json, node);
    fill_array(json, node);
    fill_object(json, node);
    fill_needs(json, node);
    fill_combined(json, node);
    name_ignored(json);
  }

  void refer(const Json& json, SchemaNode& node) {
    const auto ref = json.find("$ref");
    if (ref == json.end()) return;
    if (!ref->is_string()) throw Unusable{"a $ref that is no text"};
    node.reference = node_of(target_of(ref->get_ref<const std::string&>()));
  }

  const Json& target_of(std::string_view ref) const {
    if (ref == "#") return root_;
    if (!ref.starts_with("#/")) throw Unusable{"a $ref that is no path in it"};
    const Json* at = &root_;
    ref.remove_prefix(2);
    while (true) {
      const auto end = ref.find('/');
      at = step(*at, unescaped(ref.substr(0, end)));
      if (at == nullptr) throw Unusable{"a $ref to nothing"};
      if (end == std::string_view::npos) return *at;
      ref.remove_prefix(end + 1);
    }
  }

  static const Json* step(const Json& json, const std::string& token) {
    if (json.is_object()) {
      const auto found = json.find(token);
      return found == json.end() ? nullptr : &*found;
    }
    if (!json.is_array() || token.empty() || token.size() > 6) return nullptr;
    const std::size_t index = std::strtoul(token.c_str(), nullptr, 10);
    return index < json.size() && std::to_string(index) == token ? &json[index] : nullptr;
  }

  void fill_values(const Json& json, SchemaNode& node) {
    if (const auto type = json.find("type"); type != json.end()) {
      node.types = 0;
      if (type->is_array()) {
        for (const Json& one : *type) node.types |= type_named(one);
      } else {
        node.types = type_named(*type);
      }
      const auto nullable = json.find("nullable");  // OpenAPI's; servers write it all the same
      if (nullable != json.end() && *nullable == true) node.types |= schema_type::null;
    }
    if (const auto values = json.find("enum"); values != json.end() && values->is_array()) {
      spend(values->size());
      node.has_enum = true;
      node.values.assign(values->begin(), values->end());
    }
    if (const auto value = json.find("const"); value != json.end()) {
      if (node.has_enum) throw Unusable{"const beside enum"};
      node.has_enum = true;
      node.values.push_back(*value);
    }
  }

  static std::optional<long double> number_in(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !(found->is_number() || found->is_binary())) return std::nullopt;
    return schema_number(*found);
  }

  void fill_numbers(const Json& json, SchemaNode& node) {
    node.minimum = number_in(json, "minimum");
    node.maximum = number_in(json, "maximum");
    node.above = number_in(json, "exclusiveMinimum");
    node.below = number_in(json, "exclusiveMaximum");
    node.multiple_of = number_in(json, "multipleOf");
    // Draft 4: a word about the other.
    if (json.value("exclusiveMinimum", Json()) == true) node.above = node.minimum;
    if (json.value("exclusiveMaximum", Json()) == true) node.below = node.maximum;
    if (node.multiple_of && *node.multiple_of <= 0)
      throw Unusable{"a multipleOf that is not above 0"};
  }

  static SchemaCount count_in(const Json& json, const char* min, const char* max,
                              SchemaCount count = {}) {
    const auto read = [&](const char* key, std::size_t& value) {
      const auto number = number_in(json, key);
      if (number) value = static_cast<std::size_t>(std::clamp<long double>(*number, 0, 1e15L));
    };
    read(min, count.min);
    read(max, count.max);
    return count;
  }

  std::optional<SchemaPattern> pattern_of(const std::string& text) {
    if (++patterns_ > limits_.patterns) throw Unusable{"too many patterns"};
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(pattern_memory);
    auto expression = std::make_shared<const RE2>(text, options);
    if (expression->ok()) return SchemaPattern{text, std::move(expression)};
    ignore("pattern " + printable(text, longest_named));
    return std::nullopt;
  }

  void fill_string(const Json& json, SchemaNode& node) {
    node.length = count_in(json, "minLength", "maxLength");
    const auto pattern = json.find("pattern");
    if (pattern == json.end() || !pattern->is_string()) return;
    node.pattern = pattern_of(pattern->get_ref<const std::string&>());
  }

  SchemaIndex child(const Json& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() ? no_schema : node_of(*found);
  }

  std::vector<SchemaIndex> children(const Json& json, const char* key) {
    std::vector<SchemaIndex> indices;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array()) return indices;
    for (const Json& one : *found) indices.push_back(node_of(one));
    return indices;
  }

  void fill_array(const Json& json, SchemaNode& node) {
    node.items_count = count_in(json, "minItems", "maxItems");
    node.unique = json.value("uniqueItems", Json()) == true;
    const auto items = json.find("items");
    if (items != json.end() && items->is_array()) {  // up to 2019-09
      node.prefix = children(json, "items");
      node.items = child(json, "additionalItems");
    } else {
      node.prefix = children(json, "prefixItems");
      node.items = child(json, "items");
    }
    node.contains = child(json, "contains");
    node.contains_count = count_in(json, "minContains", "maxContains", {.min = 1});
  }

  void fill_object(const Json& json, SchemaNode& node) {
    node.members_count = count_in(json, "minProperties", "maxProperties");
    if (const auto found = json.find("properties"); found != json.end() && found->is_object()) {
      spend(found->size());
      for (const auto& [name, schema] : found->items()) {
        node.properties.emplace(name, node_of(schema));
        node.property_order.push_back(name);
      }
    }
    if (const auto found = json.find("patternProperties");
        found != json.end() && found->is_object()) {
      for (const auto& [text, schema] : found->items()) {
        auto pattern = pattern_of(text);
        // Whatever it says cannot be told from what additionalProperties says.
        if (!pattern) throw Unusable{"patternProperties with an expression that is not RE2's"};
        node.pattern_properties.emplace_back(*std::move(pattern), node_of(schema));
      }
    }
    node.additional = child(json, "additionalProperties");
    node.names = child(json, "propertyNames");
    node.required = texts_in(json.value("required", Json()));
  }

  std::vector<std::string> texts_in(const Json& json) {
    std::vector<std::string> texts;
    if (!json.is_array()) return texts;
    spend(json.size());
    for (const Json& one : json) {
      if (one.is_string()) texts.push_back(one.get<std::string>());
    }
    return texts;
  }

  void fill_needs(const Json& json, SchemaNode& node) {
    for (const char* key : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      const auto found = json.find(key);
      if (found == json.end() || !found->is_object()) continue;
      for (const auto& [name, needed] : found->items()) {
        if (needed.is_array()) {
          node.needs.emplace_back(name, texts_in(needed));
        } else {
          node.needs_schema.emplace_back(name, node_of(needed));
        }
      }
    }
  }

  void fill_combined(const Json& json, SchemaNode& node) {
    node.all_of = children(json, "allOf");
    node.any_of = children(json, "anyOf");
    node.one_of = children(json, "oneOf");
    node.not_of = child(json, "not");
    node.condition = child(json, "if");
    if (node.condition == no_schema) return;
    node.then_of = child(json, "then");
    node.else_of = child(json, "else");
  }

  void name_ignored(const Json& json) {
    for (const char* key :
         {"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"}) {
      if (json.contains(key)) ignore(key);
    }
  }

  void ignore(const std::string& what) {
    if (std::ranges::find(schema_.ignored, what) == schema_.ignored.end()) {
      schema_.ignored.push_back(what);
    }
  }

  void spend(std::size_t values) {
    values_ += values;
    if (values_ > limits_.values) throw Unusable{"too many values and names in it"};
  }

  const Json& root_;
  const SchemaLimits& limits_;
  const bool is_old_;
  JsonSchema schema_;
  std::unordered_map<const Json*, SchemaIndex> places_;
  std::size_t patterns_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

long double schema_number(const Json& value) {
  if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
  if (value.is_number_float()) return static_cast<long double>(value.get<double>());
  const auto& digits = value.get_binary();
  return std::strtold(std::string(digits.begin(), digits.end()).c_str(), nullptr);
}

bool JsonSchema::takes_every_object() const {
  const SchemaNode& root = nodes.front();
  const bool is_plain = !root.is_false && (root.types & schema_type::object) != 0 &&
                        !root.has_enum && root.reference == no_schema;
  const bool has_members = !root.properties.empty() || !root.pattern_properties.empty() ||
                           root.additional != no_schema || root.names != no_schema ||
                           !root.required.empty() || !root.needs.empty() ||
                           !root.needs_schema.empty() || root.members_count.min != 0 ||
                           root.members_count.max != SchemaCount{}.max;
  const bool is_combined = !root.all_of.empty() || !root.any_of.empty() || !root.one_of.empty() ||
                           root.not_of != no_schema || root.condition != no_schema;
  return is_plain && !has_members && !is_combined;
}

std::expected<JsonSchema, std::string> make_schema(const Json& schema, const SchemaLimits& limits) {
  if (schema.dump(-1, ' ', false, Json::error_handler_t::replace).size() > limits.text) {
    return std::unexpected("it is too large");
  }
  try {
    return Maker(schema, limits).make();
  } catch (const Unusable& unusable) {
    return std::unexpected(unusable.why);
  }
}

}  // namespace cellblock
