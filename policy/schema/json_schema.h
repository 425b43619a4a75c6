#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <expected>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

/// A JSON Schema of a tool's arguments, made ready once: 2020-12, and what differs in the drafts
/// since 4. It comes from a server, so it is bounded: nothing is fetched, every pattern is RE2's,
/// and what it costs to hold a value to it is counted (schema_validator.h).
namespace cellblock {

struct SchemaLimits {
  std::size_t nodes = 2'048;    ///< schemas in it
  std::size_t values = 16'384;  ///< of all its enums, and names of members
  std::size_t patterns = 128;
  std::size_t text = 256U << 10;  ///< of all its strings
};

/// Which types a value may have: bits.
using TypeMask = std::uint8_t;
namespace schema_type {
inline constexpr TypeMask null = 1;
inline constexpr TypeMask boolean = 2;
inline constexpr TypeMask object = 4;
inline constexpr TypeMask array = 8;
inline constexpr TypeMask number = 16;  ///< integers too
inline constexpr TypeMask integer = 32;
inline constexpr TypeMask string = 64;
inline constexpr TypeMask any = 127;
}  // namespace schema_type

struct SchemaCount {
  std::size_t min = 0;
  std::size_t max = std::numeric_limits<std::size_t>::max();
};

struct SchemaPattern {
  std::string text;
  std::shared_ptr<const RE2> expression;
};

using SchemaIndex = std::uint32_t;
inline constexpr SchemaIndex no_schema = std::numeric_limits<SchemaIndex>::max();

/// One schema. Absent keywords have values that restrict nothing.
struct SchemaNode {
  using Json = nlohmann::ordered_json;

  bool is_false = false;
  TypeMask types = schema_type::any;
  bool has_enum = false;
  std::vector<Json> values;  ///< of enum, or the one of const

  std::optional<long double> minimum;
  std::optional<long double> maximum;
  std::optional<long double> above;  ///< exclusiveMinimum
  std::optional<long double> below;
  std::optional<long double> multiple_of;

  SchemaCount length;  ///< of a string, in characters
  std::optional<SchemaPattern> pattern;

  SchemaCount items_count;
  std::vector<SchemaIndex> prefix;
  SchemaIndex items = no_schema;
  SchemaIndex contains = no_schema;
  SchemaCount contains_count{.min = 1};
  bool unique = false;

  SchemaCount members_count;
  std::unordered_map<std::string, SchemaIndex> properties;
  std::vector<std::string> property_order;  ///< as written, for messages
  std::vector<std::pair<SchemaPattern, SchemaIndex>> pattern_properties;
  SchemaIndex additional = no_schema;
  SchemaIndex names = no_schema;
  std::vector<std::string> required;
  std::vector<std::pair<std::string, std::vector<std::string>>> needs;  ///< dependentRequired
  std::vector<std::pair<std::string, SchemaIndex>> needs_schema;

  std::vector<SchemaIndex> all_of;
  std::vector<SchemaIndex> any_of;
  std::vector<SchemaIndex> one_of;
  SchemaIndex not_of = no_schema;
  SchemaIndex condition = no_schema;
  SchemaIndex then_of = no_schema;
  SchemaIndex else_of = no_schema;
  SchemaIndex reference = no_schema;
};

struct JsonSchema {
  std::vector<SchemaNode> nodes;  ///< the first one is the whole
  /// Keywords in it that nothing is held to: "unevaluatedProperties", a pattern that is not RE2's.
  std::vector<std::string> ignored;

  /// Any object fits, and nothing else has to be looked at.
  bool takes_every_object() const;
};

/// The error says why nothing can be held to it. `schema`: cleaned, not deeper than 32.
std::expected<JsonSchema, std::string> make_schema(const nlohmann::ordered_json& schema,
                                                   const SchemaLimits& limits = {});

/// The value of a JSON number; integers of 64 bits are exact.
long double schema_number(const nlohmann::ordered_json& value);

}  // namespace cellblock
