#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "supervisor/gateway/checks/catalogue.h"

/// What a server says about itself and what it offers is untrusted text that a model will read. It
/// is bounded and cleaned before anything else sees it; what is sound stays as it was. Nothing is
/// ever fetched.
namespace cellblock::gateway {

// Text that a person and a model read alike: characters that only the model would see become
// visible.

/// Tabs, line ends, and what joins or chooses the form of an emoji stay. All other controls and
/// hidden characters (policy/base/printable.h) become `\u{202e}`, bytes that are no UTF-8
/// `\x9f`. nullopt: there is nothing of that kind.
std::optional<std::string> made_visible(std::string_view text);

/// For names, which are not rewritten: a control or hidden character of any kind, or no UTF-8.
bool has_hidden(std::string_view name);

/// At most `limit` bytes (40 at least), cut between characters, `…[N more bytes]` at its end;
/// nullopt: it is short enough.
std::optional<std::string> cut_to(std::string_view text, std::size_t limit);

// The shape of JSON that a server wrote.

/// More than `levels` arrays and objects inside one another.
bool is_deeper_than(const nlohmann::ordered_json& value, unsigned levels);

// These recurse as deep as the value nests.

/// About: as JSON it may have a few bytes more or less for each of its values.
bool is_larger_than(const nlohmann::ordered_json& value, std::size_t bytes);

/// A `$ref` (`$dynamicRef`, `$recursiveRef`) that does not begin with `#`: to resolve it a reader
/// would have to fetch it, or look for an `$id` that the server chose.
bool has_external_ref(const nlohmann::ordered_json& schema);

bool has_hidden_key(const nlohmann::ordered_json& value);

inline constexpr std::size_t max_item_name = 256;
inline constexpr std::size_t max_item_uri = 8U << 10;
inline constexpr std::size_t max_description = 16U << 10;
inline constexpr std::size_t max_instructions = 64U << 10;
inline constexpr std::size_t max_item_bytes = 512U << 10;  ///< icons may be data: URIs
inline constexpr unsigned max_item_depth = 32;
inline constexpr std::size_t max_items = 4'096;  ///< of one list

/// What was done to it.
enum class Finding : std::uint8_t {
  bad_name,      ///< left out: no name (or URI), an overlong one, or one with hidden characters
  bad_key,       ///< left out: a member's name has hidden characters
  duplicate,     ///< left out: the first of that name stays
  external_ref,  ///< left out: its schema refers to something outside itself
  too_large,     ///< left out: bytes or depth
  too_many,      ///< left out: the list is longer than max_items, or never ends
  made_visible,  ///< a text had hidden characters
  cut,           ///< a text was overlong
};
inline constexpr std::size_t finding_count = 8;
std::string_view name_of(Finding finding);  ///< "external_ref"

struct Findings {
  std::array<std::uint64_t, finding_count> counts{};

  std::uint64_t& operator[](Finding finding) {
    return counts.at(static_cast<std::size_t>(finding));
  }
  std::uint64_t of(Finding finding) const { return counts.at(static_cast<std::size_t>(finding)); }
  bool any() const { return counts != decltype(counts){}; }
  void add(const Findings& more);
  bool operator==(const Findings&) const = default;
};

/// `items` is an array, or becomes an empty one.
Findings clean_items(nlohmann::ordered_json& items, ListKind kind);

/// Titles, descriptions, `instructions`: every string of an object, such as serverInfo.
Findings clean_text(nlohmann::ordered_json& value);
std::optional<std::string> cleaned_instructions(std::string_view text, Findings& findings);

}  // namespace cellblock::gateway
