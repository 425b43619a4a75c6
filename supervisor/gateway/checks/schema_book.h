#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "policy/access/condition_match.h"
#include "policy/pins/definition.h"
#include "policy/pins/pin_set.h"
#include "policy/schema/json_schema.h"

/// What arguments of tools are held to.
namespace cellblock::gateway {

/// The inputSchemas of tools, made ready when the first call comes, and kept as long as the
/// definition is the same. Pure.
class SchemaBook {
 public:
  static constexpr std::size_t max_kept = 1'024;  ///< beyond it they are all made anew

  struct Entry {
    Digest of{};
    /// The error says why arguments are not held to it.
    std::expected<JsonSchema, std::string> schema;
    bool takes_every_object = false;
    Arguments defaults;
  };

  /// Valid until the next call of this.
  const Entry& of(std::uint32_t server, std::string_view tool, const Pin& pin);

 private:
  using Key = std::pair<std::uint32_t, std::string>;
  struct Less {
    using is_transparent = void;
    using View = std::pair<std::uint32_t, std::string_view>;
    static View view(const Key& key) { return {key.first, key.second}; }
    static View view(const View& key) { return key; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return view(a) < view(b);
    }
  };

  std::map<Key, Entry, Less> entries_;
};

/// The input schema in a definition's canonical text.
std::expected<JsonSchema, std::string> input_schema_of(std::string_view definition);

}  // namespace cellblock::gateway
